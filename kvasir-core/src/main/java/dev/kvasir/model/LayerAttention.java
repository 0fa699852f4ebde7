package dev.kvasir.model;

import dev.kvasir.attention.Attention;
import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import java.util.ArrayList;
import java.util.List;

/** The attention of a step in all layers, one for each size of heads. */
final class LayerAttention {
  private final Attention[] bySize;
  private final int[] sizeOf; // by layer

  LayerAttention(ModelConfig config, Kernels kernels, WorkerPool workers) {
    List<AttentionShape> shapes = new ArrayList<>();
    this.sizeOf = new int[config.layers()];
    for (int layer = 0; layer < sizeOf.length; layer++) {
      AttentionShape shape = config.attentionShape(layer);
      if (!shapes.contains(shape)) {
        shapes.add(shape);
      }
      sizeOf[layer] = shapes.indexOf(shape);
    }
    this.bySize =
        shapes.stream()
            .map(shape -> new Attention(shape, kernels, workers))
            .toArray(Attention[]::new);
  }

  /** Returns the attention of a layer. */
  Attention of(int layer) {
    return bySize[sizeOf[layer]];
  }

  /** Drops the rows of the last step. */
  void begin() {
    for (Attention attention : bySize) {
      attention.begin();
    }
  }

  /** Adds consecutive rows of a sequence ({@link Attention#add}). */
  void add(KvCache cache, int firstRow, int count, int position, int stepBegin, int stepEnd) {
    for (Attention attention : bySize) {
      attention.add(cache, firstRow, count, position, stepBegin, stepEnd);
    }
  }
}
