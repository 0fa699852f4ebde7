package dev.kvasir.bench;

import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.LoadedModel;
import java.util.SplittableRandom;

/** Fills caches with random vectors, which cost as much as real ones; always the same. */
final class RandomKv {
  /** The vocabulary of the random texts. */
  static final int VOCABULARY = 8192;

  private static final int STEP_TOKENS = 512;

  private RandomKv() {}

  /** Fills a cache with keys and values, and with token ids and queries if it observes them. */
  static KvCache fill(KvCache cache, CacheShape shape, int queryHeads, int tokens) {
    SplittableRandom random = new SplittableRandom(1);
    SplittableRandom ofQueries = new SplittableRandom(2);
    SplittableRandom ofTokens = new SplittableRandom(3);
    float[] keys = new float[shape.kvHeads() * shape.keyDim()];
    float[] values = new float[keys.length];
    float[] queries = new float[queryHeads * shape.keyDim()];
    for (int position = 0; position < tokens; position++) {
      cache.reserve(position + 1);
      if (cache.observer().observesTokens()) {
        cache.observer().observe(position, token(ofTokens));
      }
      for (int layer = 0; layer < shape.layers(); layer++) {
        for (int i = 0; i < keys.length; i++) {
          keys[i] = (float) random.nextDouble(-2, 2);
          values[i] = (float) random.nextDouble(-1, 1);
        }
        cache.append(layer, position, keys, 0, values, 0);
        if (cache.observer().observesQueries()) {
          fillQueries(queries, shape.keyDim(), ofQueries);
          cache.observer().observe(layer, position, queries, 0);
        }
      }
      cache.advance(1);
    }
    return cache;
  }

  /** Fills a cache with what a model computes for random tokens, on any device. */
  static KvCache read(LoadedModel model, KvCache cache, int tokens) {
    SplittableRandom random = new SplittableRandom(3);
    for (int from = 0; from < tokens; from += STEP_TOKENS) {
      int end = Math.min(tokens, from + STEP_TOKENS);
      Batch batch = new Batch();
      batch.beginChunk(cache, from, end);
      for (int i = from; i < end; i++) {
        batch.add(cache, random.nextInt(model.config().vocabulary()), false);
      }
      model.forward(batch);
    }
    return cache;
  }

  /** Returns a token id whose logarithm is uniform, similar to word frequencies. */
  private static int token(SplittableRandom random) {
    return (int) Math.pow(VOCABULARY, random.nextDouble()) - 1;
  }

  /** Fills queries with channel magnitudes up to two, large and small ones interleaved. */
  private static void fillQueries(float[] queries, int headDim, SplittableRandom random) {
    for (int i = 0; i < queries.length; i++) {
      double size = 2.0 * (i % headDim * 37 % headDim + 1) / headDim;
      queries[i] = (float) (size * random.nextDouble(-1, 1));
    }
  }
}
