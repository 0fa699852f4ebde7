package dev.kvasir.bench;

import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import java.util.SplittableRandom;

/** Fills caches with random vectors, which cost what real ones cost; the same ones every time. */
final class RandomKv {
  /** Tokens that texts are made of. */
  static final int VOCABULARY = 8192;

  private RandomKv() {}

  /**
   * Keys and values; ids for methods that know tokens, and queries for those that pack by what they
   * look at.
   */
  static KvCache fill(KvCache cache, CacheShape shape, int queryHeads, int tokens) {
    SplittableRandom random = new SplittableRandom(1);
    SplittableRandom ofQueries = new SplittableRandom(2);
    SplittableRandom ofTokens = new SplittableRandom(3);
    float[] keys = new float[shape.kvHeads() * shape.keyDim()];
    float[] values = new float[keys.length];
    float[] queries = new float[queryHeads * shape.keyDim()];
    for (int position = 0; position < tokens; position++) {
      cache.reserve(position + 1);
      if (cache.observesTokens()) {
        cache.observe(position, token(ofTokens));
      }
      for (int layer = 0; layer < shape.layers(); layer++) {
        for (int i = 0; i < keys.length; i++) {
          keys[i] = (float) random.nextDouble(-2, 2);
          values[i] = (float) random.nextDouble(-1, 1);
        }
        cache.append(layer, position, keys, 0, values, 0);
        if (cache.observesQueries()) {
          fillQueries(queries, shape.keyDim(), ofQueries);
          cache.observe(layer, position, queries, 0);
        }
      }
      cache.advance(1);
    }
    return cache;
  }

  /** One is as often below a number as between that and its square, much as words are. */
  private static int token(SplittableRandom random) {
    return (int) Math.pow(VOCABULARY, random.nextDouble()) - 1;
  }

  /** Channels of every size up to two, large and small ones side by side. */
  private static void fillQueries(float[] queries, int headDim, SplittableRandom random) {
    for (int i = 0; i < queries.length; i++) {
      double size = 2.0 * (i % headDim * 37 % headDim + 1) / headDim;
      queries[i] = (float) (size * random.nextDouble(-1, 1));
    }
  }
}
