package dev.kvasir.lab.forecast;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.codebook.TrainingSpeed;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;

/** Measures speeds with short pieces of the work itself, about a second for each kind. */
public final class SpeedMeasurement {
  private static final double SECONDS = 1;

  private static final int MIN_TRIES = 12;
  private static final int MAX_TRIES = 1000;

  /** What the engine reads at a time, and what a decoder takes for a text. */
  private static final int BLOCK = 128;

  private static final int TEXT = 512;

  /** A large model takes a second for few tokens, so all is tried with fewer at first. */
  private static final int REDUCTION = 8;

  private static final int FITTED = 512;

  private final Model model;
  private final DecoderFlops flops;
  private final int threads;

  public SpeedMeasurement(Model model, int threads) {
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
              case TRAINING -> TrainingSpeed.measure(model.config().headDim(), threads);
              case FITTING -> fitting(workers);
            });
      }
    }
    return new Speeds(threads, found);
  }

  private double reading() {
    return withMostTokens(BLOCK, flops::forward, tokens -> () -> read(tokens));
  }

  /** As many tokens as are worth the time. */
  private static double withMostTokens(
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

  /** One layer, and what the next one attends with. */
  private double tracing(WorkerPool workers) {
    TracedDecoder decoder = TracedDecoder.of(model, 1, workers);
    TextVisitor oneLayer =
        new TextVisitor() {
          @Override
          public boolean forward(LayerVectors vectors) {
            return vectors.layer() == 0;
          }
        };
    boolean goesOn = model.config().layers() > 1;
    return withMostTokens(
        TEXT,
        tokens -> flops.layer(0, tokens) + (goesOn ? flops.projections(tokens) : 0),
        tokens -> () -> decoder.forward(ids(tokens), oneLayer));
  }

  /** Sums of outer products. */
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

  /** The best of all tries within a second; on a busy machine it takes longer to compile code. */
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
