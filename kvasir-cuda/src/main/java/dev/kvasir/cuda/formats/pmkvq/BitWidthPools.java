package dev.kvasir.cuda.formats.pmkvq;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.pmkvq.InitialWidth;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.DequantizeKernel;
import dev.kvasir.cuda.formats.LayerGroups;
import dev.kvasir.cuda.formats.PageLevels;
import dev.kvasir.cuda.formats.PageOperations;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.ScaleGroups;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PagePool;
import dev.kvasir.cuda.memory.PagePools;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The levels of {@link PmkvqFormat}; each packed level has half as many bits as the one before. The
 * argument of kernels that quantize fp16 pages, with the offsets in widths.cuh:
 *
 * <pre>
 *  0 u64 pairs          16 u64 packed stride   32 u32 key group     40 u32 shift
 *  8 u64 fp16 stride    24 u64 factors         36 u32 value group
 * </pre>
 */
final class BitWidthPools implements PageLevels {
  private static final int ARGUMENT_BYTES = 48;
  private static final int THREADS = 256;
  private static final int MAX_VALUE_GROUP = 128;

  private final PmkvqFormat format;
  private final AttentionShape shape;
  private final KernelModule module;
  private final LayerGroups groups;
  private final PagePool fp16Pool; // of all layers
  private final PagePool[][] pools; // by group and level
  private final DeviceMemory factors; // (places, kvHeads, headDim); null if keys have none
  private final Map<String, Launch> launches = new HashMap<>();
  private final Map<Integer, DequantizeKernel> dequantizeKernels = new HashMap<>(); // by level

  BitWidthPools(
      KernelModule module,
      CudaStream stream,
      PmkvqFormat format,
      AttentionShape shape,
      PagePool fp16Pool,
      PagePools packed) {
    this.module = module;
    this.format = format;
    this.shape = shape;
    this.groups = format.groups(packed.layers());
    this.fp16Pool = fp16Pool;
    this.pools = new PagePool[groups.count()][];
    Arrays.setAll(pools, group -> pools(packed, groups.layers(group)));
    this.factors =
        format
            .factors()
            .map(known -> known.upload(module.context(), stream, groups.order()))
            .orElse(null);
  }

  private PagePool[] pools(PagePools packed, int layers) {
    PagePool[] byLevel = new PagePool[count()];
    byLevel[0] =
        sharesFp16()
            ? fp16Pool
            : packed.pages("fp16 of %d layers".formatted(layers), layers, bytes(0));
    for (int level = 1; level < count(); level++) {
      String content =
          "%s%d of %d layers".formatted(format.kernelName(), PmkvqFormat.BITS[level], layers);
      byLevel[level] = packed.pages(content, layers, bytes(level));
    }
    return byLevel;
  }

  /** Returns the bytes of a page of one KV head. */
  private int bytes(int level) {
    return format.pageBytes(level, shape.headDim());
  }

  @Override
  public LayerGroups groups() {
    return groups;
  }

  @Override
  public int count() {
    return PmkvqFormat.BITS.length;
  }

  @Override
  public PagePool pool(int group, int level) {
    return pools[group][level];
  }

  @Override
  public long codeBytes(int group, int level) {
    int values = 2 * shape.kvHeads() * shape.headDim() * groups.layers(group);
    return (long) values * Fp16Page.TOKENS * PmkvqFormat.BITS[level] / Byte.SIZE;
  }

  /** The layers of a group have consecutive places, so only the first one's differs. */
  @Override
  public long tableAddress(long page, int group, int level) {
    return level > 0 ? page : page - groups.base(group) * fp16Pool.layerStride();
  }

  /** Returns the addresses of a group's first layer in fp16 pages of all layers. */
  private long[] inGroup(long[] pages, int group) {
    long offset = groups.base(group) * fp16Pool.layerStride();
    return Arrays.stream(pages).map(page -> page + offset).toArray();
  }

  @Override
  public void quantize(PageOperations operations, long[] from, long[] to, int group, int level) {
    long[] own = inGroup(from, group);
    if (level == 0) {
      operations.copyLayers(own, to, groups.layers(group));
    } else {
      RightShiftCode shift =
          format.initialWidth() == InitialWidth.WIDE
              ? RightShiftCode.of(format.shift())
              : RightShiftCode.NONE;
      quantize(operations, own, to, group, level, shift);
    }
  }

  @Override
  public void requantize(
      PageOperations operations, long[] from, int fromLevel, long[] to, int toLevel, int group) {
    RightShiftCode shift = RightShiftCode.of(format.shift());
    if (fromLevel == 0) {
      quantize(operations, from, to, group, toLevel, shift);
      return;
    }
    String name =
        "narrow_%s%d_%d"
            .formatted(format.kernelName(), PmkvqFormat.BITS[fromLevel], PmkvqFormat.BITS[toLevel]);
    operations.runOnPairs(
        from,
        to,
        (stream, pages, pairs) ->
            launches
                .computeIfAbsent(name, this::newNarrowingLaunch)
                .grid(pages, shape.kvHeads(), groups.layers(group))
                .argument(0, pairs)
                .argument(1, pool(group, fromLevel).layerStride())
                .argument(2, pool(group, toLevel).layerStride())
                .argument(3, shift.ordinal())
                .on(stream));
  }

  private void quantize(
      PageOperations operations,
      long[] from,
      long[] to,
      int group,
      int level,
      RightShiftCode shift) {
    String name = "pack_%s%d".formatted(format.kernelName(), PmkvqFormat.BITS[level]);
    operations.runOnPairs(
        from,
        to,
        (stream, pages, pairs) -> {
          Launch launch = launches.computeIfAbsent(name, this::newQuantizingLaunch);
          MemorySegment argument = launch.arguments();
          argument.set(JAVA_LONG, 0, pairs);
          argument.set(JAVA_LONG, 8, fp16Pool.layerStride());
          argument.set(JAVA_LONG, 16, pool(group, level).layerStride());
          argument.set(JAVA_LONG, 24, factorsAddress(group));
          argument.set(JAVA_INT, 40, shift.ordinal());
          launch.grid(pages, shape.kvHeads(), groups.layers(group)).on(stream);
        });
  }

  /** Returns the address of a group's factors; 0 if keys have none. */
  private long factorsAddress(int group) {
    return factors == null
        ? 0
        : factors.address()
            + (long) Float.BYTES * groups.base(group) * shape.kvHeads() * shape.headDim();
  }

  @Override
  public void dequantize(PageOperations operations, long[] to, long[] from, int group, int level) {
    long[] own = inGroup(to, group);
    if (level == 0) {
      operations.copyLayers(from, own, groups.layers(group));
      return;
    }
    PageQuantizer.LayerStrides all =
        new PageQuantizer.LayerStrides(
            groups.layers(group), fp16Pool.layerStride(), pool(group, level).layerStride(), 0);
    operations.runOnPairs(
        own, from, (stream, pages, pairs) -> dequantize(stream, pages, pairs, group, level, all));
  }

  @Override
  public void dequantizeLayer(CudaStream stream, int pages, long pairs, int level, int layer) {
    int group = groups.group(layer);
    PageQuantizer.LayerStrides one =
        new PageQuantizer.LayerStrides(
            groups.index(layer), 1, 0, pool(group, level).layerStride(), 0);
    dequantize(stream, pages, pairs, group, level, one);
  }

  private void dequantize(
      CudaStream stream,
      int pages,
      long pairs,
      int group,
      int level,
      PageQuantizer.LayerStrides which) {
    dequantizeKernels
        .computeIfAbsent(level, this::newDequantizeKernel)
        .prepare(pages, pairs, which)
        .argument(1, factorsAddress(group))
        .on(stream);
  }

  private Kernel kernel(String name) {
    return module.kernel("%s_d%d".formatted(name, shape.headDim()));
  }

  private DequantizeKernel newDequantizeKernel(int level) {
    String name = "unpack_%s%d".formatted(format.kernelName(), PmkvqFormat.BITS[level]);
    return new DequantizeKernel(kernel(name), shape.kvHeads(), Long.BYTES);
  }

  private Launch newNarrowingLaunch(String name) {
    return new Launch(kernel(name), Long.BYTES, Long.BYTES, Long.BYTES, Integer.BYTES)
        .block(THREADS);
  }

  private Launch newQuantizingLaunch(String name) {
    int sharedBytes = ScaleGroups.sharedBytes(shape.headDim());
    Kernel kernel = kernel(name);
    kernel.allowSharedBytes(sharedBytes);
    Launch launch = new Launch(kernel, ARGUMENT_BYTES).block(THREADS).shared(sharedBytes);
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_INT, 32, KeyScaleAxis.tokensPerGroup(shape.headDim()));
    argument.set(JAVA_INT, 36, Math.min(MAX_VALUE_GROUP, shape.headDim()));
    return launch;
  }

  @Override
  public void close() {
    Resources.closeAll(factors);
  }
}
