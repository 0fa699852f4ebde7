package dev.kvasir.lab.report;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.lab.eval.Difference;
import dev.kvasir.lab.eval.Difference.Verdict;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Footprint;
import dev.kvasir.lab.eval.Proportion;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Score;
import dev.kvasir.lab.eval.Score.GridCell;
import dev.kvasir.lab.eval.ScoreComparison;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.inspect.KeyRanges;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Synthetic evaluations for tests. */
final class Examples {
  static final Provenance PROVENANCE =
      new Provenance(
          "kvasir eval --report r.html",
          "0.0",
          Optional.of("c0ffee"),
          Instant.parse("2026-01-02T03:04:05Z"));

  private static final List<Integer> CONTEXTS = List.of(1000, 4000, 8000);
  private static final int SAMPLES = 20;
  private static final int TOKENS = 8064;
  private static final long FP16_BYTES = 24L << 20;

  private Examples() {}

  static Evaluation evaluation(String model, String... furtherSpecs) {
    List<Row> rows = new ArrayList<>();
    rows.add(row("fp16", 16, 0));
    rows.add(row("kivi:4", 4.5, 0.08));
    rows.add(row("kivi:2", 2.5, 0.9));
    rows.add(row("kivi:4,group=32", 5.2, 0.02));
    rows.add(row("kivi:2,group=32", 3.2, 0.5));
    for (String spec : furtherSpecs) {
      rows.add(row(spec, 3.7, 0.3));
    }
    EvaluationSettings settings =
        new EvaluationSettings(
            List.of(CacheSpec.DEFAULT), EnumSet.allOf(Task.class), CONTEXTS, SAMPLES, 40, 1);
    return new Evaluation(model, settings, "the bundled text", "2 processors, aarch64", true, rows);
  }

  /**
   * @param harm degradation caused by the cache, 0 for none
   */
  private static Row row(String spec, double bits, double harm) {
    Map<Task, Score> scores = new EnumMap<>(Task.class);
    Map<Task, ScoreComparison> comparisons = new EnumMap<>(Task.class);
    Estimate right = new Proportion((int) (60 * (0.97 - 0.8 * harm)), 60).estimate();
    List<Double> none = List.of();
    double ppl = 18.9 * (1 + 0.3 * harm);
    scores.put(Task.PPL, new Score.Perplexity(new Estimate(ppl, 0.93 * ppl, 1.08 * ppl), none));
    scores.put(Task.KLD, divergence(harm));
    scores.put(Task.NEEDLE, new Score.Retrieval(right, none, grid(harm)));
    scores.put(Task.RECORDS, new Score.Retrieval(right, none, grid(harm / 2)));
    scores.put(Task.CHAIN, new Score.Chain(right, none, new Estimate(30, 25, 36), 40, none));
    scores.put(Task.JSONL, new Score.Answers(right, none));
    Verdict verdict = harm > 0.1 ? Verdict.WORSE : Verdict.WITHIN_ERROR;
    scores
        .keySet()
        .forEach(
            task ->
                comparisons.put(
                    task,
                    new ScoreComparison(new Difference(0, verdict), false, Optional.empty())));
    return new Row(spec, footprint(bits), scores, comparisons);
  }

  private static Footprint footprint(double bits) {
    long bytes = (long) (FP16_BYTES * bits / 16);
    long window = bits == 16 ? bytes : 400_000;
    long scales = (bytes - window) / 5;
    return new Footprint(
        TOKENS, 0, bytes, bits, 90, new CacheBytes(bytes - window - scales, scales, window, 0, 0));
  }

  /** The first two blocks have none, because a window keeps them in full precision. */
  private static Score divergence(double harm) {
    List<Double> blocks =
        IntStream.range(0, TOKENS / Score.BLOCK_TOKENS)
            .mapToObj(i -> i < 2 ? 0 : 0.2 * harm * harm * (1.2 + Math.sin(1.3 * i)))
            .toList();
    double mean = blocks.stream().mapToDouble(Double::doubleValue).average().orElse(0);
    return new Score.Divergence(
        new Estimate(mean, 0.8 * mean, 1.25 * mean), 9 * mean, new Proportion(97, 100), blocks);
  }

  private static List<GridCell> grid(double harm) {
    List<GridCell> cells = new ArrayList<>();
    for (int context : CONTEXTS) {
      for (int depth = 0; depth < Score.DEPTHS; depth++) {
        double share = 1 - harm * context / 8000 * (1 - 0.15 * depth);
        cells.add(new GridCell(context, depth, new Proportion((int) Math.round(4 * share), 4)));
      }
    }
    return cells;
  }

  /** Includes a few outlier channels, as in real models. */
  static KeyRanges keyRanges() {
    return keyRanges(8, 64);
  }

  static KeyRanges keyRanges(int layers, int headDim) {
    float[][][] ranges = new float[layers][2][headDim];
    for (int layer = 0; layer < ranges.length; layer++) {
      for (int head = 0; head < 2; head++) {
        for (int channel = 0; channel < headDim; channel++) {
          boolean out = (channel * 7 + layer * 3 + head) % 29 == 0;
          ranges[layer][head][channel] =
              (float) ((out ? 25 : 4) * (1.3 + Math.sin(channel * 0.7 + layer)));
        }
      }
    }
    return new KeyRanges(TOKENS, ranges);
  }
}
