package dev.kvasir.lab.inspect;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.text.BlockwiseReading;
import dev.kvasir.lab.text.FirstTokens;
import dev.kvasir.runtime.LoadedModel;
import java.util.Arrays;
import java.util.Optional;

/**
 * The range of each key channel, maximum minus minimum, that per-channel uniform quantization has
 * to cover. Keys are after rotation, as a cache receives them.
 *
 * @param tokens number of tokens read
 * @param ranges (layers, kvHeads, headDim)
 */
public record KeyRanges(int tokens, float[][][] ranges) {

  /**
   * Measures the key ranges of a text.
   *
   * @param maxTokens maximum number of tokens
   * @param listener receives the number of tokens; cancelling leaves no result, because ranges grow
   *     with the text
   */
  public static Optional<KeyRanges> measure(
      LoadedModel model, String text, int maxTokens, ProgressListener listener) {
    int[] ids = FirstTokens.of(model.tokenizer(), text, maxTokens);
    int tokens = Math.min(ids.length, maxTokens);
    CacheShape shape = model.config().cacheShape().withoutWindows();
    Extremes extremes = new Extremes(shape);
    try (KvCache cache = CacheSpec.parse("fp32").newCache(shape)) {
      boolean complete =
          BlockwiseReading.read(
              model,
              ids,
              tokens,
              cache,
              listener::isCancelled,
              from -> {
                extremes.addBlock(cache, cache.blockOf(from));
                listener.progress(cache.length(), tokens);
              });
      return complete ? Optional.of(new KeyRanges(tokens, extremes.ranges())) : Optional.empty();
    }
  }

  private static final class Extremes {
    private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
    private final CacheShape shape;
    private final float[] keys; // (tokens, headDim) of a block
    private final float[][][] least; // (layers, kvHeads, headDim)
    private final float[][][] most; // (layers, kvHeads, headDim)

    Extremes(CacheShape shape) {
      this.shape = shape;
      this.keys = new float[KvCache.TOKENS_PER_PAGE * shape.headDim()];
      this.least = filled(shape, Float.POSITIVE_INFINITY);
      this.most = filled(shape, Float.NEGATIVE_INFINITY);
    }

    private static float[][][] filled(CacheShape shape, float value) {
      float[][][] filled = new float[shape.layers()][shape.kvHeads()][shape.headDim()];
      Arrays.stream(filled).flatMap(Arrays::stream).forEach(row -> Arrays.fill(row, value));
      return filled;
    }

    void addBlock(KvCache cache, int block) {
      int tokens = cache.length() - cache.firstPosition(block);
      for (int layer = 0; layer < shape.layers(); layer++) {
        for (int head = 0; head < shape.kvHeads(); head++) {
          cache.view(layer, block).expandKeys(kernels, head, tokens, keys);
          add(least[layer][head], most[layer][head], tokens);
        }
      }
    }

    private void add(float[] low, float[] high, int tokens) {
      for (int token = 0; token < tokens; token++) {
        for (int channel = 0; channel < low.length; channel++) {
          float value = keys[token * low.length + channel];
          low[channel] = Math.min(low[channel], value);
          high[channel] = Math.max(high[channel], value);
        }
      }
    }

    float[][][] ranges() {
      float[][][] ranges = filled(shape, 0);
      for (int layer = 0; layer < shape.layers(); layer++) {
        for (int head = 0; head < shape.kvHeads(); head++) {
          for (int channel = 0; channel < shape.headDim(); channel++) {
            ranges[layer][head][channel] = most[layer][head][channel] - least[layer][head][channel];
          }
        }
      }
      return ranges;
    }
  }
}
