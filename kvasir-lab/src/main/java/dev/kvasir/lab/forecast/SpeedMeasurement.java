package dev.kvasir.lab.forecast;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.codebook.TrainingSpeed;
import dev.kvasir.lab.gradient.BackwardProbe;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.runtime.LoadedModel;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;

/** Measures speeds with short runs of the real work, about a second for each kind. */
public final class SpeedMeasurement {
  private static final double SECONDS = 1;

  private static final int MIN_TRIES = 12;
  private static final int MAX_TRIES = 1000;

  /** Tokens of an engine step, and tokens of a traced text. */
  private static final int BLOCK = 128;

  private static final int TEXT = 512;

  /** A large model needs a second for a few tokens, so the first trial uses fewer. */
  private static final int REDUCTION = 8;

  private static final int FITTED = 512;

  private final LoadedModel model;
  private final DecoderFlops flops;
  private final int threads;

  public SpeedMeasurement(LoadedModel model, int threads) {
    this.model = model;
    this.flops = new DecoderFlops(model.config());
    this.threads = threads;
  }

  public Speeds of(Set<ComputeKind> efforts) {
    Map<ComputeKind, Double> found = new EnumMap<>(ComputeKind.class);
    try (WorkerPool workers = new WorkerPool(threads)) {
      for (ComputeKind kind : efforts) {
        found.put(
            kind,
            switch (kind) {
              case READING -> reading();
              case TRACING -> tracing(workers);
              case BACKWARD -> backward(workers);
              case TRAINING -> TrainingSpeed.measure(model.config().headDim(), threads);
              case FITTING -> fitting(workers);
            });
      }
    }
    return new Speeds(threads, found);
  }

  private double reading() {
    return withMaxTokens(BLOCK, flops::forward, tokens -> () -> read(tokens));
  }

  /** Measures with as many tokens as fit the time limit. */
  private static double withMaxTokens(
      int most, IntToDoubleFunction operations, IntFunction<Runnable> tried) {
    int few = most / REDUCTION;
    double speed = fastest(operations.applyAsDouble(few), tried.apply(few));
    boolean affordable = operations.applyAsDouble(most) / speed < 2 * SECONDS;
    return affordable ? fastest(operations.applyAsDouble(most), tried.apply(most)) : speed;
  }

  private void read(int tokens) {
    try (KvCache cache =
        CacheSpec.parse("fp32").newCache(model.config().cacheShape().withoutWindows())) {
      Batch batch = new Batch();
      for (int id : ids(tokens)) {
        batch.add(cache, id, false);
      }
      model.forward(batch);
    }
  }

  private int[] ids(int count) {
    int[] ids = new int[count];
    Arrays.setAll(ids, i -> i * 7919 % model.config().vocabulary());
    return ids;
  }

  /** Traces one layer and the projections of the next. */
  private double tracing(WorkerPool workers) {
    TracedDecoder decoder = TracedDecoder.of(model, 1, workers);
    TextVisitor oneLayer =
        new TextVisitor() {
          @Override
          public boolean forward(LayerVectors vectors) {
            return vectors.layer() == 0;
          }
        };
    boolean hasNextLayer = model.config().layers() > 1;
    return withMaxTokens(
        TEXT,
        tokens -> flops.layer(0, tokens) + (hasNextLayer ? flops.projections(tokens) : 0),
        tokens -> () -> decoder.forward(ids(tokens), oneLayer));
  }

  /** Propagates gradients through a feed-forward matrix. */
  private double backward(WorkerPool workers) {
    BackwardProbe probe = BackwardProbe.of(model, workers);
    // Not with fewer tokens: expanding the weights, which takes the same time, would dominate.
    return fastest(probe.operations(TEXT), () -> probe.run(TEXT));
  }

  /** Sums outer products. */
  private static double fitting(WorkerPool workers) {
    double[][] sums = new double[FITTED][FITTED];
    float[] rows = new float[FITTED * FITTED];
    Arrays.fill(rows, 1);
    Runnable sum =
        () ->
            workers.run(
                (i, worker) -> {
                  for (int row = 0; row < FITTED; row++) {
                    double factor = rows[row * FITTED + i];
                    for (int j = 0; j < FITTED; j++) {
                      sums[i][j] += factor * rows[row * FITTED + j];
                    }
                  }
                },
                FITTED);
    return fastest(2.0 * FITTED * FITTED * FITTED, sum);
  }

  /** Returns the best speed within about a second; a busy machine takes longer to compile code. */
  private static double fastest(double operations, Runnable work) {
    double best = 0;
    long begin = System.nanoTime();
    for (int i = 0; i < MIN_TRIES || seconds(begin) < SECONDS && i < MAX_TRIES; i++) {
      long start = System.nanoTime();
      work.run();
      best = Math.max(best, operations / seconds(start));
      if (i > 0 && seconds(begin) > 4 * SECONDS) {
        break;
      }
    }
    return best;
  }

  private static double seconds(long since) {
    return (System.nanoTime() - since) / 1e9;
  }
}
