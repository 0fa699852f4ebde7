package dev.kvasir.lab.inspect;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.codec.patternkv.PatternLabels;
import dev.kvasir.codec.patternkv.PatternSet;
import dev.kvasir.codec.patternkv.PatternkvPage;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.text.BlockwiseReading;
import dev.kvasir.lab.text.FirstTokens;
import dev.kvasir.runtime.LoadedModel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * How well the patterns of a cache fit a model: how many values use one, and how far they reduce
 * the quantized ranges.
 *
 * @param tokens number of quantized tokens
 * @param layers results by layer
 */
public record PatternFit(int tokens, List<Layer> layers, Spread keys, Spread values) {
  private static final int PAGE = KvCache.TOKENS_PER_PAGE;

  /**
   * @param valuesWithPattern proportion of values that use a pattern
   * @param keyRange remaining range of a key channel over a page, relative to the original; 1 if
   *     patterns gain nothing
   * @param valueRange remaining range of a value over its channels, likewise
   */
  public record Layer(double valuesWithPattern, double keyRange, double valueRange) {}

  /** Distributions of vectors and of their residuals after subtracting patterns. */
  public record Spread(DeviationHistogram whole, DeviationHistogram residual) {
    static Spread empty() {
      return new Spread(new DeviationHistogram(), new DeviationHistogram());
    }
  }

  /** Returns the means over all layers, by name, with intervals from drawing layers. */
  public Map<String, Estimate> means() {
    return Map.of(
        "valuesWithPattern", mean(Layer::valuesWithPattern),
        "keyRange", mean(Layer::keyRange),
        "valueRange", mean(Layer::valueRange));
  }

  private Estimate mean(ToDoubleFunction<Layer> figure) {
    return Estimate.ofMean(layers.stream().mapToDouble(figure).boxed().toList());
  }

  /**
   * Reads a text and quantizes its keys and values.
   *
   * @param prefill whether quantization waits for the end of the text
   * @param maxTokens maximum number of tokens
   * @param listener receives the number of tokens; cancelling leaves no result
   */
  public static Optional<PatternFit> measure(
      LoadedModel model,
      CacheSpec spec,
      Prefill prefill,
      String text,
      int maxTokens,
      ProgressListener listener) {
    int[] ids = FirstTokens.of(model.tokenizer(), text, maxTokens);
    int tokens = Math.min(ids.length, maxTokens) / PAGE * PAGE;
    CacheShape shape = model.config().cacheShape().withoutWindows();
    try (KvCache whole = CacheSpec.parse("fp32").newCache(shape);
        KvCache quantized = model.newCache(spec)) {
      Copy copy = new Copy(shape);
      quantized.deferQuantization(prefill == Prefill.EXACT);
      boolean read =
          BlockwiseReading.read(
              model,
              ids,
              tokens,
              whole,
              listener::isCancelled,
              from -> {
                copy.block(whole, quantized, from);
                listener.progress(whole.length(), tokens);
              });
      quantized.deferQuantization(false);
      return read
          ? Optional.of(new PageComparison(shape, whole, quantized).fit(spec))
          : Optional.empty();
    }
  }

  /** Copies blocks of one cache to another. */
  private static final class Copy {
    private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
    private final CacheShape shape;
    private final float[] head; // (PAGE, headDim)
    private final float[] keys; // (PAGE, kvHeads, headDim)
    private final float[] values; // (PAGE, kvHeads, headDim)

    Copy(CacheShape shape) {
      this.shape = shape;
      this.head = new float[PAGE * shape.headDim()];
      this.keys = new float[shape.kvHeads() * head.length];
      this.values = new float[keys.length];
    }

    void block(KvCache from, KvCache to, int position) {
      int width = shape.kvHeads() * shape.headDim();
      int block = from.blockOf(position);
      to.reserve(position + PAGE);
      for (int layer = 0; layer < shape.layers(); layer++) {
        for (int kvHead = 0; kvHead < shape.kvHeads(); kvHead++) {
          from.view(layer, block).expandKeys(kernels, kvHead, PAGE, head);
          spread(kvHead, keys);
          from.view(layer, block).expandValues(kernels, kvHead, PAGE, head);
          spread(kvHead, values);
        }
        for (int token = 0; token < PAGE; token++) {
          to.append(layer, position + token, keys, token * width, values, token * width);
        }
      }
      to.advance(PAGE);
    }

    private void spread(int kvHead, float[] all) {
      int headDim = shape.headDim();
      for (int token = 0; token < PAGE; token++) {
        int to = (token * shape.kvHeads() + kvHead) * headDim;
        System.arraycopy(head, token * headDim, all, to, headDim);
      }
    }
  }

  /** Compares pages with the original vectors. */
  private static final class PageComparison {
    private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
    private final PageWorkspace workspace = new PageWorkspace(kernels);
    private final CacheShape shape;
    private final KvCache whole;
    private final KvCache quantized;
    private final Spread keys = Spread.empty();
    private final Spread values = Spread.empty();
    private final float[] x; // (PAGE, headDim)
    private final float[] restored; // (PAGE, headDim)
    private final float[] residual; // (PAGE, headDim)
    private final byte[] indices = new byte[PAGE];
    private int pages;

    PageComparison(CacheShape shape, KvCache whole, KvCache quantized) {
      this.shape = shape;
      this.whole = whole;
      this.quantized = quantized;
      this.x = new float[PAGE * shape.headDim()];
      this.restored = new float[x.length];
      this.residual = new float[x.length];
    }

    PatternFit fit(CacheSpec spec) {
      List<Layer> layers = IntStream.range(0, shape.layers()).mapToObj(this::layer).toList();
      if (pages == 0) {
        throw new InvalidInputException(
            "the cache '%s' has quantized no page with patterns; give it a longer text or patternkv"
                .formatted(spec));
      }
      return new PatternFit(pages / shape.layers() * PAGE, layers, keys, values);
    }

    private Layer layer(int layer) {
      Sums used = new Sums();
      Sums keyRanges = new Sums();
      Sums valueRanges = new Sums();
      int first = quantized.blockOf(quantized.firstRetained(layer));
      for (int block = first; block <= quantized.blockOf(quantized.length() - 1); block++) {
        if (quantized.view(layer, block).page() instanceof PatternkvPage page) {
          pages++;
          for (int kvHead = 0; kvHead < shape.kvHeads(); kvHead++) {
            compareKeys(page, layer, kvHead, keyRanges);
            compareValues(page, layer, kvHead, valueRanges);
            countUsed(page.values(), kvHead, used);
          }
        }
      }
      return new Layer(used.ratio(), keyRanges.ratio(), valueRanges.ratio());
    }

    private void compareKeys(PatternkvPage page, int layer, int kvHead, Sums ranges) {
      whole.view(layer, page.position() / PAGE).expandKeys(kernels, kvHead, PAGE, x);
      page.dequantizeKeys(workspace, kvHead, PAGE, restored);
      page.residuals().dequantizeKeys(workspace, kvHead, PAGE, residual);
      computeResiduals();
      int headDim = shape.headDim();
      for (int channel = 0; channel < headDim; channel++) {
        ranges.add(range(residual, channel, headDim, PAGE), range(x, channel, headDim, PAGE));
      }
      keys.whole().add(x, x);
      keys.residual().add(residual, x);
    }

    private void compareValues(PatternkvPage page, int layer, int kvHead, Sums ranges) {
      whole.view(layer, page.position() / PAGE).expandValues(kernels, kvHead, PAGE, x);
      page.dequantizeValues(workspace, kvHead, PAGE, restored);
      page.residuals().dequantizeValues(workspace, kvHead, PAGE, residual);
      computeResiduals();
      int headDim = shape.headDim();
      for (int token = 0; token < PAGE; token++) {
        ranges.add(
            range(residual, token * headDim, 1, headDim), range(x, token * headDim, 1, headDim));
      }
      values.whole().add(x, x);
      values.residual().add(residual, x);
    }

    /** The pattern is the restored vector minus its residual. */
    private void computeResiduals() {
      for (int i = 0; i < x.length; i++) {
        residual[i] = x[i] - (restored[i] - residual[i]);
      }
    }

    private static double range(float[] x, int at, int stride, int count) {
      float least = Float.POSITIVE_INFINITY;
      float most = Float.NEGATIVE_INFINITY;
      for (int i = 0; i < count; i++) {
        least = Math.min(least, x[at + i * stride]);
        most = Math.max(most, x[at + i * stride]);
      }
      return most - least;
    }

    private void countUsed(Optional<PatternLabels> labels, int kvHead, Sums used) {
      if (labels.isEmpty()) {
        used.add(0, PAGE);
        return;
      }
      labels.get().read(kvHead, indices);
      for (byte index : indices) {
        used.add((index & 0xFF) == PatternSet.NONE ? 0 : 1, 1);
      }
    }
  }

  private static final class Sums {
    private double part;
    private double all;

    void add(double onePart, double oneAll) {
      part += onePart;
      all += oneAll;
    }

    double ratio() {
      return all == 0 ? 0 : part / all;
    }
  }
}
