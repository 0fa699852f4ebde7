package dev.kvasir.lab.mead;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.mead.MeadProfile;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.runtime.LoadedModel;

/**
 * Reads the first layer's keys and values of every token as the engine computes them, with
 * quantized activations.
 */
final class FirstLayerRows {
  private static final int TOGETHER = KvCache.TOKENS_PER_PAGE;

  private final LoadedModel model;
  private final CacheShape shape;
  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();

  FirstLayerRows(LoadedModel model) {
    this.model = model;
    this.shape = model.config().cacheShape().withoutWindows();
  }

  MeadProfile.FirstLayer read() {
    int vocabulary = model.config().vocabulary();
    float[] keys = new float[vocabulary * shape.kvHeads() * shape.keyDim()];
    float[] values = new float[vocabulary * shape.kvHeads() * shape.valueDim()];
    for (int first = 0; first < vocabulary; first += TOGETHER) {
      read(first, Math.min(TOGETHER, vocabulary - first), keys, values);
    }
    return new MeadProfile.FirstLayer(vocabulary, keys, values);
  }

  private void read(int first, int count, float[] keys, float[] values) {
    try (KvCache cache = CacheSpec.parse("fp32").newCache(shape)) {
      Batch batch = new Batch();
      for (int i = 0; i < count; i++) {
        batch.add(cache, first + i, false);
      }
      model.forward(batch);
      for (int head = 0; head < shape.kvHeads(); head++) {
        readHead(cache, head, first, count, keys, values);
      }
    }
  }

  private void readHead(
      KvCache cache, int head, int first, int count, float[] keys, float[] values) {
    float[] some = new float[count * Math.max(shape.keyDim(), shape.valueDim())];
    cache.view(0, 0).expandKeys(kernels, head, count, some);
    Rotation rotation = model.config().rotations().orElseThrow().of(0);
    int[] order = rotation.pairOrder(shape.keyDim());
    for (int i = 0; i < count; i++) {
      rotation.rotate(some, i * shape.keyDim(), shape.keyDim(), 1, -i);
      int to = ((first + i) * shape.kvHeads() + head) * shape.keyDim();
      for (int c = 0; c < shape.keyDim(); c++) {
        keys[to + c] = some[i * shape.keyDim() + order[c]];
      }
    }
    cache.view(0, 0).expandValues(kernels, head, count, some);
    for (int i = 0; i < count; i++) {
      int to = ((first + i) * shape.kvHeads() + head) * shape.valueDim();
      System.arraycopy(some, i * shape.valueDim(), values, to, shape.valueDim());
    }
  }
}
