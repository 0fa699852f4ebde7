package dev.kvasir.bench;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.runtime.LoadedModel;
import java.util.Arrays;
import java.util.Locale;

/**
 * The cost of query statistics in a method that quantizes by queries, per token of a sequence.
 *
 * @param observeNanos for observing the queries of all layers
 * @param selectNanos for selecting channels, averaged over the tokens of a block
 */
record ChannelSelection(CacheSpec spec, double observeNanos, double selectNanos) {
  private static final int TOKENS = 4096;

  static ChannelSelection measure(LoadedModel model, CacheSpec spec) {
    CacheShape shape = model.config().cacheShape();
    int queryHeads = model.config().queryHeads();
    float[] queries = new float[queryHeads * shape.headDim()];
    Arrays.fill(queries, 1.5f);
    try (KvCache cache = RandomKv.fill(model.newCache(spec), shape, queryHeads, TOKENS)) {
      double select = (double) cache.quantizationTime().learnNanos() / TOKENS;
      double observe = 0;
      for (int round = 0; round < 2; round++) { // the first round warms up
        long start = System.nanoTime();
        for (int i = 0; i < TOKENS; i++) {
          for (int layer = 0; layer < shape.layers(); layer++) {
            cache.observer().observe(layer, TOKENS + i, queries, 0);
          }
        }
        observe = (double) (System.nanoTime() - start) / TOKENS;
      }
      return new ChannelSelection(spec, observe, select);
    }
  }

  String describe(double stepNanos) {
    return String.format(
        Locale.ROOT,
        "%10s%s: %.1f us a token on queries, %.1f us on choosing channels: %.2f%% of a step",
        "",
        spec,
        observeNanos / 1e3,
        selectNanos / 1e3,
        100 * (observeNanos + selectNanos) / stepNanos);
  }
}
