package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Page pools by bit width, and the kernels that requantize between them. Level 0 holds fp16 pages;
 * each further level has half as many bits.
 */
final class BitWidthPools {
  private static final int THREADS = 256;
  private static final int MAX_VALUE_GROUP = 128;

  private final PagePool fp16Pool;
  private final List<PagePool> packed; // from level 1 on
  private final int layers;
  private final AttentionShape shape;
  private final Map<String, Launch> launches = new HashMap<>();
  private final Map<Integer, DequantizeKernel> dequantizeKernels = new HashMap<>(); // by level
  private final KernelModule module;

  /**
   * @param packed pools by level, from level 1 on
   */
  BitWidthPools(
      KernelModule module,
      AttentionShape shape,
      int layers,
      PagePool fp16Pool,
      List<PagePool> packed) {
    this.module = module;
    this.shape = shape;
    this.layers = layers;
    this.fp16Pool = fp16Pool;
    this.packed = packed;
  }

  PagePool at(int level) {
    return level == 0 ? fp16Pool : packed.get(level - 1);
  }

  /** Returns the offset from the first layer's pages of a level to those of another layer. */
  long offset(int level, int layer) {
    return layer * at(level).layerStride();
  }

  /** Returns the code bytes of a packed page in all layers. */
  long codeBytes(int level) {
    return 2L
        * layers
        * shape.kvHeads()
        * new PackedPage(PmkvqFormat.BITS[level], shape.headDim()).codeBytes();
  }

  /** Quantizes full fp16 pages directly to a level, as if they had never been wider. */
  void quantize(PageOperations operations, long[] from, long[] to, int level) {
    quantize(operations, "born", from, to, level);
  }

  /**
   * Requantizes pages to a narrower level. Fp16 pages are first rounded to the 16-bit codes that
   * they stand for.
   *
   * @param from pages of whole blocks
   */
  void requantize(PageOperations operations, long[] from, int fromLevel, long[] to, int toLevel) {
    if (fromLevel == 0) {
      quantize(operations, "shrunk", from, to, toLevel);
    } else {
      String name =
          "narrow_width%d_width%d"
              .formatted(PmkvqFormat.BITS[fromLevel], PmkvqFormat.BITS[toLevel]);
      operations.runOnPairs(
          from,
          to,
          (stream, pages, pairs) -> launchOn(name, stream, pages, pairs, fromLevel, toLevel));
    }
  }

  private void quantize(PageOperations operations, String how, long[] from, long[] to, int level) {
    String name = "%s_width%d".formatted(how, PmkvqFormat.BITS[level]);
    operations.runOnPairs(
        from,
        to,
        (stream, pages, pairs) -> {
          launch(name)
              .argument(3, KeyScaleAxis.tokensPerGroup(shape.headDim()))
              .argument(4, Math.min(MAX_VALUE_GROUP, shape.headDim()));
          launchOn(name, stream, pages, pairs, 0, level);
        });
  }

  /** Dequantizes packed pages to the numbers that attention computes with. */
  void dequantize(PageOperations operations, long[] to, long[] from, int level) {
    PageQuantizer.LayerStrides all = strides(level);
    operations.runOnPairs(
        to, from, (stream, pages, pairs) -> dequantize(stream, pages, pairs, level, all));
  }

  /** Dequantizes packed pages of one layer, to fp16 pages that all layers share. */
  void dequantizeLayer(CudaStream stream, int pages, long pairs, int level, int layer) {
    dequantize(stream, pages, pairs, level, strides(level).only(layer));
  }

  private PageQuantizer.LayerStrides strides(int level) {
    return new PageQuantizer.LayerStrides(
        layers, fp16Pool.layerStride(), at(level).layerStride(), 0);
  }

  private void dequantize(
      CudaStream stream, int pages, long pairs, int level, PageQuantizer.LayerStrides which) {
    dequantizeKernels
        .computeIfAbsent(level, this::newDequantizeKernel)
        .prepare(pages, pairs, which)
        .on(stream);
  }

  private DequantizeKernel newDequantizeKernel(int level) {
    String name = "unpack_width%d_d%d".formatted(PmkvqFormat.BITS[level], shape.headDim());
    return new DequantizeKernel(module.kernel(name), shape.kvHeads());
  }

  private void launchOn(String name, CudaStream stream, int pages, long pairs, int from, int to) {
    launch(name)
        .grid(pages, shape.kvHeads(), layers)
        .argument(0, pairs)
        .argument(1, at(from).layerStride())
        .argument(2, at(to).layerStride())
        .on(stream);
  }

  private Launch launch(String name) {
    return launches.computeIfAbsent(name, this::newLaunch);
  }

  private Launch newLaunch(String name) {
    Kernel kernel = module.kernel("%s_d%d".formatted(name, shape.headDim()));
    if (name.startsWith("narrow")) {
      return new Launch(kernel, 8, 8, 8).block(THREADS);
    }
    int sharedBytes = ScaleGroups.sharedBytes(shape.headDim());
    kernel.allowSharedBytes(sharedBytes);
    return new Launch(kernel, 8, 8, 8, 4, 4).block(THREADS).shared(sharedBytes);
  }
}
