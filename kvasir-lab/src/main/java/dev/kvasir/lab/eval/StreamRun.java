package dev.kvasir.lab.eval;

import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.lab.eval.ReferenceDistributions.TokenScore;
import dev.kvasir.lab.eval.StreamTask.StreamScores;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a text into the caches of several rows, block by block. Each block attends to its quantized
 * past, as in a conversation. The distributions of the reference are computed once for all rows and
 * stored for one block only. Footprints are measured at the end, where all rows hold the same
 * tokens.
 */
final class StreamRun {
  private final LoadedModel model;
  private final BatchRunner runner;
  private final StreamText text;
  private final ProgressCounter progress;
  private final Batch batch = new Batch();
  private final ReferenceDistributions reference;

  StreamRun(LoadedModel model, BatchRunner runner, StreamText text, ProgressCounter progress) {
    this.model = model;
    this.runner = runner;
    this.text = text;
    this.progress = progress;
    this.reference = new ReferenceDistributions(Score.BLOCK_TOKENS, model.config().vocabulary());
  }

  /** Runs the text; the first row is the reference. */
  StreamScores run(List<CandidateCache> rows) {
    List<KvCache> caches = new ArrayList<>();
    try {
      rows.forEach(row -> caches.add(row.newCache(model, text.tokens())));
      List<StreamTally> tallies = rows.stream().map(row -> new StreamTally()).toList();
      runner.readPrompts(caches, text.ids(), text.promptTokens());
      for (int from = text.promptTokens(); from < text.tokens(); from += Score.BLOCK_TOKENS) {
        for (int i = 0; i < rows.size(); i++) {
          readBlock(caches.get(i), tallies.get(i), from, i == 0);
          progress.add(ProgressCounter.prefillCost(from, Score.BLOCK_TOKENS));
        }
      }
      List<Footprint> footprints = text.measuresFootprint() ? footprints(caches) : List.of();
      return new StreamScores(tallies.stream().map(this::scores).toList(), footprints);
    } finally {
      caches.forEach(KvCache::close);
    }
  }

  private List<Footprint> footprints(List<KvCache> caches) {
    double[] speeds = new double[caches.size()];
    Arrays.fill(speeds, Double.NaN);
    if (text.timed()) {
      speeds = new SpeedProbe(model).tokensPerSecond(caches);
      progress.add(caches.size() * probeCost());
    }
    List<Footprint> footprints = new ArrayList<>();
    for (int i = 0; i < speeds.length; i++) {
      footprints.add(Footprint.of(caches.get(i), model.config().cacheShape(), speeds[i]));
    }
    return footprints;
  }

  /** Returns the cost of measuring the speed of a row. */
  static double probeCost() {
    return ProgressCounter.decodeAloneCost(SpeedProbe.TOKENS * SpeedProbe.TURNS);
  }

  private Map<Task, Score> scores(StreamTally tally) {
    Map<Task, Score> scores = new EnumMap<>(Task.class);
    text.tasks()
        .forEach(
            task -> scores.put(task, task.isDistance() ? tally.divergence() : tally.perplexity()));
    return scores;
  }

  /**
   * Reads a block in one step, or in several if a budget cannot hold the block in full precision.
   */
  private void readBlock(KvCache cache, StreamTally tally, int from, boolean isReference) {
    int end = from + Score.BLOCK_TOKENS;
    int count;
    for (int at = from; at < end; at += count) {
      count = Math.max(1, cache.stepCapacity(end - at));
      forward(cache, at, count);
      if (isReference) {
        reference.take(batch.logits(), batch::logitsAt, at - from, count);
      }
      tally.add(
          reference.compare(batch.logits(), batch::logitsAt, at - from, count, text.ids(), at + 1));
    }
    tally.endBlock();
  }

  private void forward(KvCache cache, int from, int count) {
    batch.clear();
    for (int i = from; i < from + count; i++) {
      batch.add(cache, text.ids()[i], true);
    }
    model.forward(batch);
  }

  /** Measures decoding speed after a given past. */
  private static final class SpeedProbe {
    private static final int TOKENS = 16;

    /** The first turn warms up and does not count. */
    private static final int TURNS = 4;

    private final LoadedModel model;

    SpeedProbe(LoadedModel model) {
      this.model = model;
    }

    /** Returns the median tokens per second after each past; the caches take turns. */
    double[] tokensPerSecond(List<KvCache> pasts) {
      double[][] speeds = new double[pasts.size()][TURNS - 1];
      for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < pasts.size(); i++) {
          double speed = TOKENS * 1e9 / nanos(pasts.get(i));
          if (turn > 0) {
            speeds[i][turn - 1] = speed;
          }
        }
      }
      return Arrays.stream(speeds).mapToDouble(SpeedProbe::median).toArray();
    }

    private long nanos(KvCache past) {
      Batch batch = new Batch();
      try (KvCache cache = past.fork()) {
        // At the end of the context or of a budget, a few tokens are removed to free capacity.
        int most = Math.min(model.config().contextLength(), cache.capacity());
        cache.truncate(Math.min(cache.length(), most - TOKENS));
        long start = System.nanoTime();
        for (int i = 0; i < TOKENS; i++) {
          batch.clear();
          batch.add(cache, i, true);
          model.forward(batch);
        }
        return System.nanoTime() - start;
      }
    }

    private static double median(double[] values) {
      double[] sorted = values.clone();
      Arrays.sort(sorted);
      return sorted[sorted.length / 2];
    }
  }

  /** Aggregates the token scores of a text in one row. */
  private static final class StreamTally {
    private final List<Double> divergences = new ArrayList<>(); // of every token
    private final List<Double> blockDivergences = new ArrayList<>();
    private final List<Double> blockLikelihoods = new ArrayList<>();
    private double divergence;
    private double likelihood;
    private int tokens;
    private int same;

    void add(TokenScore[] scores) {
      for (TokenScore score : scores) {
        divergences.add(score.divergence());
        divergence += score.divergence();
        likelihood += score.surprise();
        same += score.sameTop() ? 1 : 0;
      }
      tokens += scores.length;
    }

    void endBlock() {
      blockDivergences.add(divergence / tokens);
      blockLikelihoods.add(likelihood / tokens);
      divergence = 0;
      likelihood = 0;
      tokens = 0;
    }

    Score.Perplexity perplexity() {
      return new Score.Perplexity(
          Means.estimate(blockLikelihoods, Math::exp), List.copyOf(blockLikelihoods));
    }

    Score.Divergence divergence() {
      return new Score.Divergence(
          Means.estimate(blockDivergences),
          percentile99(),
          new Proportion(same, divergences.size()),
          List.copyOf(blockDivergences));
    }

    private double percentile99() {
      List<Double> sorted = new ArrayList<>(divergences);
      Collections.sort(sorted);
      return sorted.get(Math.ceilDiv(99 * sorted.size(), 100) - 1);
    }
  }
}
