package dev.kvasir.cuda.formats.pmkvq;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.formats.DequantizeKernel;
import dev.kvasir.cuda.formats.PageLevels;
import dev.kvasir.cuda.formats.PageOperations;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.ScaleGroups;
import dev.kvasir.cuda.memory.PackedPage;
import dev.kvasir.cuda.memory.PagePool;
import dev.kvasir.cuda.memory.PagePools;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The levels of {@link PmkvqFormat}; each packed level has half as many bits as the one before. */
final class BitWidthPools implements PageLevels {
  private static final int THREADS = 256;
  private static final int MAX_VALUE_GROUP = 128;

  private final List<PagePool> pools; // by level
  private final int layers;
  private final AttentionShape shape;
  private final Map<String, Launch> launches = new HashMap<>();
  private final Map<Integer, DequantizeKernel> dequantizeKernels = new HashMap<>(); // by level
  private final KernelModule module;

  BitWidthPools(KernelModule module, AttentionShape shape, PagePool fp16Pool, PagePools packed) {
    this.module = module;
    this.shape = shape;
    this.layers = packed.layers();
    this.pools = new ArrayList<>(List.of(fp16Pool));
    for (int level = 1; level < PmkvqFormat.BITS.length; level++) {
      int bits = PmkvqFormat.BITS[level];
      pools.add(packed.pages("width" + bits, new PackedPage(bits, shape.headDim()).bytes()));
    }
  }

  @Override
  public int count() {
    return PmkvqFormat.BITS.length;
  }

  @Override
  public PagePool pool(int level) {
    return pools.get(level);
  }

  @Override
  public long codeBytes(int level) {
    return 2L
        * layers
        * shape.kvHeads()
        * new PackedPage(PmkvqFormat.BITS[level], shape.headDim()).codeBytes();
  }

  @Override
  public void quantize(PageOperations operations, long[] from, long[] to, int level) {
    quantize(operations, "born", from, to, level);
  }

  @Override
  public void requantize(
      PageOperations operations, long[] from, int fromLevel, long[] to, int toLevel) {
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

  @Override
  public void dequantize(PageOperations operations, long[] to, long[] from, int level) {
    PageQuantizer.LayerStrides all = strides(level);
    operations.runOnPairs(
        to, from, (stream, pages, pairs) -> dequantize(stream, pages, pairs, level, all));
  }

  @Override
  public void dequantizeLayer(CudaStream stream, int pages, long pairs, int level, int layer) {
    dequantize(stream, pages, pairs, level, strides(level).only(layer));
  }

  private PageQuantizer.LayerStrides strides(int level) {
    return new PageQuantizer.LayerStrides(
        layers, pool(0).layerStride(), pool(level).layerStride(), 0);
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
        .argument(1, pool(from).layerStride())
        .argument(2, pool(to).layerStride())
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
