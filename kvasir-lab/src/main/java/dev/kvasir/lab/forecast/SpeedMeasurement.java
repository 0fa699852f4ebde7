package dev.kvasir.lab.forecast;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.Crew;
import dev.kvasir.lab.codebook.TrainingSpeed;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.TextVisitor;
import dev.kvasir.lab.gradient.TracedDecoder;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/** Measures speeds with short pieces of the work itself, about a second for each kind. */
public final class SpeedMeasurement {
  private static final double SECONDS = 1;
  private static final int TOKENS = 128;

  /** As a large model takes a second for few tokens, the engine is tried with few at first. */
  private static final int FEW_TOKENS = 8;

  private static final int FITTED = 512;

  private final Model model;
  private final DecoderWork work;
  private final int threads;

  public SpeedMeasurement(Model model, int threads) {
    this.model = model;
    this.work = new DecoderWork(model.config());
    this.threads = threads;
  }

  public Speeds of(Set<Effort> efforts) {
    Map<Effort, Double> found = new EnumMap<>(Effort.class);
    try (Crew crew = new Crew(threads)) {
      for (Effort effort : efforts) {
        found.put(
            effort,
            switch (effort) {
              case READING -> reading();
              case TRACING -> tracing(crew);
              case TRAINING -> TrainingSpeed.measured(model.config().headDim(), threads);
              case FITTING -> fitting(crew);
            });
      }
    }
    return new Speeds(threads, found);
  }

  private double reading() {
    double few = fastest(work.forward(FEW_TOKENS), () -> read(FEW_TOKENS));
    boolean many = work.forward(TOKENS) / few < 4 * SECONDS;
    return many ? fastest(work.forward(TOKENS), () -> read(TOKENS)) : few;
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
  private double tracing(Crew crew) {
    TracedDecoder decoder = TracedDecoder.of(model, 1, crew);
    TextVisitor oneLayer =
        new TextVisitor() {
          @Override
          public boolean forward(LayerVectors vectors) {
            return vectors.layer() == 0;
          }
        };
    double further = model.config().layers() > 1 ? work.projections(TOKENS) : 0;
    return fastest(work.layer(TOKENS) + further, () -> decoder.forward(ids(TOKENS), oneLayer));
  }

  /** Sums of outer products. */
  private static double fitting(Crew crew) {
    double[][] sums = new double[FITTED][FITTED];
    float[] rows = new float[FITTED * FITTED];
    Arrays.fill(rows, 1);
    Runnable sum =
        () ->
            crew.run(
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

  /** The best of all tries within a second, and of two at least: code is compiled meanwhile. */
  private static double fastest(double operations, Runnable work) {
    double best = 0;
    long begin = System.nanoTime();
    for (int i = 0; i < 2 || System.nanoTime() - begin < SECONDS * 1e9; i++) {
      long start = System.nanoTime();
      work.run();
      best = Math.max(best, operations * 1e9 / (System.nanoTime() - start));
    }
    return best;
  }
}
