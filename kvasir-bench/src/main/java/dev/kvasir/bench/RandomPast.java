package dev.kvasir.bench;

import dev.kvasir.cache.CacheShape;
import dev.kvasir.cache.KvCache;
import java.util.SplittableRandom;

/** Fills caches with random vectors, which cost what real ones cost; the same ones every time. */
final class RandomPast {
  private RandomPast() {}

  static KvCache fill(KvCache cache, CacheShape shape, int tokens) {
    SplittableRandom random = new SplittableRandom(1);
    float[] keys = new float[shape.kvHeads() * shape.headDim()];
    float[] values = new float[keys.length];
    for (int position = 0; position < tokens; position++) {
      cache.reserve(position + 1);
      for (int layer = 0; layer < shape.layers(); layer++) {
        for (int i = 0; i < keys.length; i++) {
          keys[i] = (float) random.nextDouble(-2, 2);
          values[i] = (float) random.nextDouble(-1, 1);
        }
        cache.append(layer, position, keys, 0, values, 0);
      }
      cache.advance(1);
    }
    return cache;
  }
}
