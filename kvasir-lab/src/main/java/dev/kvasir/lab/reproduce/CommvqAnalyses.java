package dev.kvasir.lab.reproduce;

import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.codebook.AsymmetricError;
import dev.kvasir.lab.codebook.LayerTrial;
import dev.kvasir.lab.codebook.SamplePlan;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.reproduce.Figures.Cell;
import dev.kvasir.lab.reproduce.Figures.Line;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.WorkerContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.IntUnaryOperator;

/** The analyses of CommVQ's paper. */
final class CommvqAnalyses {
  private static final List<Integer> STAGES = List.of(1, 2, 3, 5, 8, 11, 16, 21);
  private static final List<Integer> QUICK_STAGES = List.of(1);
  private static final List<Integer> CONTEXTS =
      List.of(8_192, 16_384, 32_768, 65_536, 98_304, 122_880);
  private static final List<Integer> BATCHES = List.of(1, 2, 4, 8, 16, 32, 64, 128);
  private static final int BATCH_CONTEXT = 32_768;
  private static final int ROWS = 64;

  /** Parts that the channel pairs of a head are split into. */
  private static final List<Integer> SPLITS = List.of(4, 2, 1);

  private static final List<Integer> QUICK_SPLITS = List.of(4);

  private static final double GIGA = 1e9;
  private static final double MEBI = 1 << 20;

  private CommvqAnalyses() {}

  /** Figure 4: error of keys by number of stages. */
  static Optional<Figures> stages(Conditions conditions) {
    Trial trial = new Trial(conditions);
    List<Line> lines = new ArrayList<>();
    for (int stages : conditions.request().quick() ? QUICK_STAGES : STAGES) {
      Optional<LayerCodebooks> books = trial.layer.train(trial.training, stages);
      if (books.isEmpty()) {
        return Optional.empty();
      }
      double bits = 12.0 * stages / trial.test.shape().headDim();
      lines.add(
          Line.of(
              "R = " + stages,
              bits,
              trial.layer.relativeError(trial.test, books.get(), Side.KEYS)));
    }
    return Optional.of(
        new Figures(List.of("bits", "error of keys"), lines, List.of(Trial.RELATIVE)));
  }

  /** Table 11: error of values, against uniform quantization. */
  static Optional<Figures> values(Conditions conditions) {
    Trial trial = new Trial(conditions);
    AsymmetricError uniform =
        new AsymmetricError(
            trial.test, trial.length, conditions.model().config().rotations().orElseThrow());
    List<Line> lines = new ArrayList<>();
    List<Integer> widths = conditions.request().quick() ? List.of(1) : List.of(2, 1);
    for (int bits : widths) {
      int stages = CommvqProfile.stages(bits, trial.test.shape().headDim());
      Optional<LayerCodebooks> books = trial.layer.train(trial.training, stages);
      if (books.isEmpty()) {
        return Optional.empty();
      }
      lines.add(
          Line.of("Asymmetric quant., %d bit".formatted(bits), uniform.of(Side.VALUES, 0, bits)));
      lines.add(
          Line.of(
              "CommVQ, %d bit".formatted(bits),
              trial.layer.relativeError(trial.test, books.get(), Side.VALUES)));
    }
    return Optional.of(new Figures(List.of("MSE"), lines, List.of(Trial.RELATIVE)));
  }

  /** Table 9: error of keys by the channel pairs that share a code, with one stage. */
  static Optional<Figures> pairsOfOneStage(Conditions conditions) {
    return pairs(conditions, splits -> 1);
  }

  /** Table 10: the same with as many stages as keep the bits equal. */
  static Optional<Figures> pairsAtEqualBits(Conditions conditions) {
    return pairs(conditions, splits -> SPLITS.getFirst() / splits);
  }

  private static Optional<Figures> pairs(Conditions conditions, IntUnaryOperator stagesOf) {
    Trial trial = new Trial(conditions);
    int pairs = trial.test.shape().headDim() / 2;
    List<Line> lines = new ArrayList<>();
    for (int splits : conditions.request().quick() ? QUICK_SPLITS : SPLITS) {
      int stages = stagesOf.applyAsInt(splits);
      OptionalDouble error =
          trial.layer.groupedKeyError(trial.training, trial.test, pairs / splits, stages);
      if (error.isEmpty()) {
        return Optional.empty();
      }
      lines.add(
          Line.of(
              "g = %d, R = %d".formatted(pairs / splits, stages),
              12.0 * stages * splits / trial.test.shape().headDim(),
              error.getAsDouble()));
    }
    return Optional.of(
        new Figures(
            List.of("bits", "error of keys"),
            lines,
            List.of("each code chooses from 64 centres (N_c' = 64) in all rows", Trial.RELATIVE)));
  }

  /** Vectors of the first layer, to train on and to test with. */
  private static final class Trial {
    static final String RELATIVE =
        "errors of layer 0 are relative to the squared norm of vectors; the paper's are absolute";

    final int length;
    final VectorSample training;
    final VectorSample test;
    final LayerTrial layer;

    Trial(Conditions conditions) {
      int tokens = conditions.request().context().orElse(conditions.request().quick() ? 128 : 8192);
      this.length = Math.min(2048, conditions.model().config().contextLength());
      this.training = sample(conditions, BundledText.filler(), "prose", tokens);
      this.test = sample(conditions, BundledText.stream(), "other prose", Math.min(tokens, 4096));
      this.layer =
          new LayerTrial(
              0,
              Runtime.getRuntime().availableProcessors(),
              conditions.request().seed(),
              conditions.listener()::isCancelled);
    }

    private VectorSample sample(Conditions conditions, String text, String name, int tokens) {
      String start = text.substring(0, Math.min(text.length(), 12 * tokens));
      int[] ids =
          Arrays.stream(conditions.model().tokenizer().encode(start)).limit(tokens).toArray();
      return SamplePlan.readAll(
          conditions.model().config().cacheShape(),
          name,
          ids,
          length,
          new LocalRunner(WorkerContext.of(conditions.model())),
          conditions.listener());
    }
  }

  /** Table 8: the configuration for the model's heads. */
  static Optional<Figures> configuration(Conditions conditions) {
    CacheShape shape = conditions.model().config().cacheShape();
    int width = shape.kvHeads() * shape.keyDim();
    return Optional.of(
        new Figures(
            List.of("1 bit", "2 bit"),
            List.of(
                Line.of("N_c", width, 2.0 * width),
                Line.of(
                    "R",
                    CommvqProfile.stages(1, shape.keyDim()),
                    CommvqProfile.stages(2, shape.keyDim())),
                Line.of("N_c'", ROWS, ROWS)),
            List.of()));
  }

  /** Table 7: bytes of codebooks in a layer, by the paper's equations 36 and 37. */
  static Optional<Figures> sizes(Conditions conditions) {
    CacheShape shape = conditions.model().config().cacheShape();
    double width = shape.kvHeads() * shape.keyDim();
    List<Line> lines = new ArrayList<>();
    lines.add(Line.of("Value Codebook", width * width * 2 / MEBI, 2 * width * width * 2 / MEBI));
    lines.add(Line.of("Key Codebook", keyBook(shape, width, 1), keyBook(shape, width, 2)));
    lines.add(
        new Line(
            "Profile, per layer",
            "",
            List.of(held(conditions, "commvq:1"), held(conditions, "commvq:2"))));
    return Optional.of(
        new Figures(
            List.of("1 bit", "2 bit"),
            lines,
            List.of("MiB; the last row is what the model's profile holds for both")));
  }

  private static double keyBook(CacheShape shape, double width, int bits) {
    return 2 * 2 * ROWS * CommvqProfile.stages(bits, shape.keyDim()) * width / 2 * 2 / MEBI;
  }

  private static Cell held(Conditions conditions, String spec) {
    try {
      long bytes = conditions.model().sharedCacheBytes(CacheSpec.parse(spec));
      return Cell.of(bytes / MEBI / conditions.model().config().layers());
    } catch (InvalidInputException e) {
      return Cell.NONE;
    }
  }

  /** Figure 3a: memory by context length. */
  static Optional<Figures> memoryByContext(Conditions conditions) {
    int most = conditions.model().config().contextLength();
    List<Integer> contexts = CONTEXTS.stream().filter(tokens -> tokens <= most).toList();
    List<Integer> shown = contexts.isEmpty() ? List.of(most) : contexts;
    return Optional.of(
        memory(
            conditions,
            shown.stream().map(tokens -> tokens + " tokens").toList(),
            (spec, column) -> bytes(conditions, spec, shown.get(column), 1),
            shown.size()));
  }

  /** Figure 3b: memory by batch size. */
  static Optional<Figures> memoryByBatch(Conditions conditions) {
    int tokens = Math.min(BATCH_CONTEXT, conditions.model().config().contextLength());
    return Optional.of(
        memory(
            conditions,
            BATCHES.stream().map(size -> "bz=" + size).toList(),
            (spec, column) -> bytes(conditions, spec, tokens, BATCHES.get(column)),
            BATCHES.size()));
  }

  private interface Bytes {
    double of(CacheSpec spec, int column);
  }

  private static Figures memory(
      Conditions conditions, List<String> columns, Bytes bytes, int count) {
    List<String> notes = new ArrayList<>(List.of("GB of weights and caches, computed"));
    List<Line> lines = new ArrayList<>();
    for (TableRow row :
        List.of(new TableRow("FP16", "fp16"), new TableRow("CommVQ-1", PaperCaches.COMMVQ_1))) {
      Optional<String> obstacle = row.obstacle(conditions.model());
      obstacle.ifPresent(notes::add);
      double[] values = new double[count];
      for (int i = 0; i < count; i++) {
        values[i] = obstacle.isPresent() ? Double.NaN : bytes.of(row.cache(), i) / GIGA;
      }
      lines.add(Line.of(row.label(), values));
    }
    return new Figures(columns, lines, notes);
  }

  private static double bytes(Conditions conditions, CacheSpec spec, int tokens, int sequences) {
    SessionOptions options = SessionOptions.builder().cache(spec).contextLimit(tokens).build();
    return conditions.model().weightBytes()
        + (double) sequences * conditions.model().maxCacheBytes(options, tokens);
  }
}
