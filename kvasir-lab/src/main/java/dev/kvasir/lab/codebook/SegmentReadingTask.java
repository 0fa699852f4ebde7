package dev.kvasir.lab.codebook;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.commvq.PairOrder;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.text.BlockwiseReading;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.WorkCancelledException;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.util.Arrays;

/** Reads a segment of text with a model and returns the keys and values of the sampled tokens. */
record SegmentReadingTask(String name, TextSegment segment) implements LabTask<SegmentVectors> {
  private static final int BLOCK = KvCache.TOKENS_PER_PAGE;

  @Override
  public double cost() {
    return segment.ids().length;
  }

  /** A cache in full precision and the fp16 vectors that are copied from it. */
  @Override
  public long peakBytes(LoadedModel model) {
    CacheShape shape = model.config().cacheShape();
    return VectorSample.bytes(shape, 3 * segment.ids().length);
  }

  @Override
  public SegmentVectors run(WorkerContext context, ProgressListener listener) {
    int[] ids = segment.ids();
    VectorCollector collector = new VectorCollector(context.model());
    try (KvCache cache = CacheSpec.parse("fp32").newCache(collector.shape)) {
      boolean complete =
          BlockwiseReading.read(
              context.model(),
              ids,
              ids.length,
              cache,
              listener::isCancelled,
              first -> {
                collector.collect(cache, first);
                listener.progress(cache.length(), ids.length);
              });
      if (!complete) {
        throw new WorkCancelledException();
      }
    }
    return new SegmentVectors(collector.heads);
  }

  /** Copies sampled vectors from a cache, block by block. */
  private final class VectorCollector {
    private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
    private final CacheShape shape;
    private final PairOrder[] orders; // by layer
    private final float[] vectors; // (tokens, headDim) of a block
    private final byte[][] heads;
    private int collected; // tokens

    VectorCollector(LoadedModel model) {
      this.shape = model.config().cacheShape().withoutWindows();
      LayerRotations rotations = model.config().rotations().orElseThrow();
      this.orders = new PairOrder[shape.layers()];
      Arrays.setAll(orders, layer -> PairOrder.of(rotations.of(layer), shape.headDim()));
      this.vectors = new float[BLOCK * shape.headDim()];
      int bytes = Short.BYTES * segment.sampledSlots().length * shape.headDim();
      this.heads = new byte[(int) VectorSample.heads(shape)][bytes];
    }

    void collect(KvCache cache, int first) {
      int tokens = cache.length() - first;
      int block = cache.blockOf(first);
      int ofSide = shape.layers() * shape.kvHeads();
      for (int head = 0; head < ofSide; head++) {
        int layer = head / shape.kvHeads();
        int kvHead = head % shape.kvHeads();
        cache.view(layer, block).expandKeys(kernels, kvHead, tokens, vectors);
        orders[layer].unrotate(vectors, 0, tokens, first);
        write(first, tokens, heads[head]);
        cache.view(layer, block).expandValues(kernels, kvHead, tokens, vectors);
        write(first, tokens, heads[ofSide + head]);
      }
      for (int token = first; token < first + tokens; token++) {
        collected += segment.slots()[token] >= 0 ? 1 : 0;
      }
    }

    private void write(int first, int tokens, byte[] to) {
      int at = Short.BYTES * collected * shape.headDim();
      for (int token = 0; token < tokens; token++) {
        if (segment.slots()[first + token] >= 0) {
          int from = token * shape.headDim();
          for (int i = from; i < from + shape.headDim(); i++) {
            short half = Float.floatToFloat16(vectors[i]);
            to[at++] = (byte) half;
            to[at++] = (byte) (half >> 8);
          }
        }
      }
    }
  }
}
