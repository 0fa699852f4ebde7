package dev.kvasir.lab.codebook;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.PairOrder;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.text.BlockwiseReading;
import java.util.Arrays;

/** Reads text with a model and puts the keys and values of its tokens into a sample. */
public final class SampleReader {
  private static final int BLOCK = KvCache.TOKENS_PER_PAGE;

  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
  private final Model model;
  private final CacheShape shape;
  private final PairOrder order;
  private final float[] vectors; // (tokens, headDim) of a block

  public SampleReader(Model model) {
    this.model = model;
    this.shape = model.config().cacheShape().withoutWindows();
    this.order = PairOrder.of(model.config().rotation(), shape.headDim());
    this.vectors = new float[BLOCK * shape.headDim()];
  }

  /**
   * @param ids tokens of the text
   * @param context where a text is cut: its next token begins anew, at position zero
   * @param listener told of tokens; where it asks to stop, the sample holds what was read
   */
  public void read(int[] ids, int context, VectorSample sample, WorkListener listener) {
    for (int from = 0; from < ids.length && !listener.stopped(); from += context) {
      int begin = from;
      int[] stretch = Arrays.copyOfRange(ids, begin, Math.min(begin + context, ids.length));
      try (KvCache cache = CacheSpec.parse("fp32").newCache(shape)) {
        BlockwiseReading.read(
            model,
            stretch,
            stretch.length,
            cache,
            listener::stopped,
            first -> {
              take(cache, first, sample);
              listener.progress(begin + cache.length(), ids.length);
            });
      }
    }
  }

  private void take(KvCache cache, int first, VectorSample sample) {
    int tokens = cache.length() - first;
    int block = cache.blockOf(first);
    int[] slots = new int[tokens];
    for (int token = 0; token < tokens; token++) {
      slots[token] = sample.nextSlot();
    }
    for (int layer = 0; layer < shape.layers(); layer++) {
      for (int head = 0; head < shape.kvHeads(); head++) {
        cache.expandKeys(kernels, layer, head, block, tokens, vectors);
        order.turnBack(vectors, 0, tokens, first);
        put(sample, Side.KEYS, layer, head, slots);
        cache.expandValues(kernels, layer, head, block, tokens, vectors);
        put(sample, Side.VALUES, layer, head, slots);
      }
    }
  }

  private void put(VectorSample sample, Side side, int layer, int head, int[] slots) {
    for (int token = 0; token < slots.length; token++) {
      if (slots[token] >= 0) {
        sample.put(side, layer, head, slots[token], vectors, token * shape.headDim());
      }
    }
  }
}
