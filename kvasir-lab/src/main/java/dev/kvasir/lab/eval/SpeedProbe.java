package dev.kvasir.lab.eval;

import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.LoadedModel;
import java.util.Arrays;
import java.util.List;

/** Measures decoding speed after a given past. */
final class SpeedProbe {
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
