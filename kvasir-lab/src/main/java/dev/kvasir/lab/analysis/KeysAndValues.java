package dev.kvasir.lab.analysis;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.text.BlockwiseReading;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The keys and values of a text in full precision, as a cache receives them.
 *
 * @param ids the tokens
 * @param keys (layers)(kvHeads)(tokens, keyDim)
 * @param values (layers)(kvHeads)(tokens, valueDim)
 */
public record KeysAndValues(CacheShape shape, int[] ids, float[][][] keys, float[][][] values) {
  private static final int PAGE = KvCache.TOKENS_PER_PAGE;
  private static final CacheSpec FULL = CacheSpec.parse("fp32");

  public int tokens() {
    return ids.length;
  }

  /** Reads a text; empty if the listener cancels. */
  public static Optional<KeysAndValues> of(
      LoadedModel model, int[] ids, ProgressListener listener) {
    CacheShape shape = model.config().cacheShape().withoutWindows();
    Vectors vectors = new Vectors(shape, ids.length);
    try (KvCache cache = FULL.newCache(shape)) {
      boolean complete =
          BlockwiseReading.read(
              model,
              ids,
              ids.length,
              cache,
              listener::isCancelled,
              from -> {
                vectors.copy(cache, from);
                listener.progress(cache.length(), ids.length);
              });
      return complete
          ? Optional.of(new KeysAndValues(shape, ids, vectors.keys, vectors.values))
          : Optional.empty();
    }
  }

  /**
   * Reads every token as a text of its own, so that its keys and values depend on its embedding
   * alone; empty if the listener cancels.
   */
  public static Optional<KeysAndValues> withoutContext(
      LoadedModel model, int[] ids, ProgressListener listener) {
    CacheShape shape = model.config().cacheShape().withoutWindows();
    Vectors vectors = new Vectors(shape, ids.length);
    for (int from = 0; from < ids.length; from += PAGE) {
      if (listener.isCancelled()) {
        return Optional.empty();
      }
      readAlone(model, shape, ids, from, vectors);
      listener.progress(from, ids.length);
    }
    return Optional.of(new KeysAndValues(shape, ids, vectors.keys, vectors.values));
  }

  private static void readAlone(
      LoadedModel model, CacheShape shape, int[] ids, int from, Vectors vectors) {
    List<KvCache> caches = new ArrayList<>();
    Batch batch = new Batch();
    try {
      for (int i = from; i < Math.min(from + PAGE, ids.length); i++) {
        caches.add(FULL.newCache(shape));
        batch.add(caches.getLast(), ids[i], false);
      }
      model.forward(batch);
      for (int i = 0; i < caches.size(); i++) {
        vectors.copyFirst(caches.get(i), from + i);
      }
    } finally {
      caches.forEach(KvCache::close);
    }
  }

  /** Returns the key of a token in all heads of a layer, (kvHeads * keyDim). */
  public float[] keysOf(int layer, int token) {
    float[] all = new float[shape.kvHeads() * shape.keyDim()];
    for (int head = 0; head < shape.kvHeads(); head++) {
      int width = shape.keyDim();
      System.arraycopy(keys[layer][head], token * width, all, head * width, width);
    }
    return all;
  }

  private static final class Vectors {
    private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
    private final CacheShape shape;
    private final float[][][] keys;
    private final float[][][] values;

    Vectors(CacheShape shape, int tokens) {
      this.shape = shape;
      this.keys = new float[shape.layers()][shape.kvHeads()][tokens * shape.keyDim()];
      this.values = new float[shape.layers()][shape.kvHeads()][tokens * shape.valueDim()];
    }

    void copy(KvCache cache, int from) {
      copy(cache, cache.blockOf(from), cache.length() - from, from);
    }

    void copyFirst(KvCache cache, int to) {
      copy(cache, 0, 1, to);
    }

    private void copy(KvCache cache, int block, int tokens, int to) {
      float[] key = new float[tokens * shape.keyDim()];
      float[] value = new float[tokens * shape.valueDim()];
      for (int layer = 0; layer < shape.layers(); layer++) {
        for (int head = 0; head < shape.kvHeads(); head++) {
          cache.view(layer, block).expandKeys(kernels, head, tokens, key);
          System.arraycopy(key, 0, keys[layer][head], to * shape.keyDim(), key.length);
          if (value.length > 0) {
            cache.view(layer, block).expandValues(kernels, head, tokens, value);
            System.arraycopy(value, 0, values[layer][head], to * shape.valueDim(), value.length);
          }
        }
      }
    }
  }
}
