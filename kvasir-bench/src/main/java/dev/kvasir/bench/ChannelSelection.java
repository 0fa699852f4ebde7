package dev.kvasir.bench;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import java.util.Arrays;
import java.util.Locale;

/**
 * What a method that packs by queries spends on them, by token of a sequence.
 *
 * @param seeNanos on looking at the queries of all layers
 * @param chooseNanos on choosing channels, spread over the tokens of a block
 */
record ChannelSelection(CacheSpec spec, double seeNanos, double chooseNanos) {
  private static final int TOKENS = 4096;

  static ChannelSelection measure(Model model, CacheSpec spec) {
    CacheShape shape = model.config().cacheShape();
    int queryHeads = model.config().queryHeads();
    float[] queries = new float[queryHeads * shape.headDim()];
    Arrays.fill(queries, 1.5f);
    try (KvCache cache = RandomPast.fill(model.newCache(spec), shape, queryHeads, TOKENS)) {
      double choose = (double) cache.packingTime().learnNanos() / TOKENS;
      double see = 0;
      for (int round = 0; round < 2; round++) { // the first one warms up
        long start = System.nanoTime();
        for (int i = 0; i < TOKENS; i++) {
          for (int layer = 0; layer < shape.layers(); layer++) {
            cache.see(layer, TOKENS + i, queries, 0);
          }
        }
        see = (double) (System.nanoTime() - start) / TOKENS;
      }
      return new ChannelSelection(spec, see, choose);
    }
  }

  String describe(double stepNanos) {
    return String.format(
        Locale.ROOT,
        "%10s%s: %.1f us a token on queries, %.1f us on choosing channels: %.2f%% of a step",
        "",
        spec,
        seeNanos / 1e3,
        chooseNanos / 1e3,
        100 * (seeNanos + chooseNanos) / stepNanos);
  }
}
