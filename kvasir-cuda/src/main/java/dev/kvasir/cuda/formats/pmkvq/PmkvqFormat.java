package dev.kvasir.cuda.formats.pmkvq;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.pmkvq.InitialWidth;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.codec.pmkvq.RightShift;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.CompactPageFormat;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.LayerGroups;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.formats.PageLevels;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPage;
import dev.kvasir.cuda.memory.PagePool;
import dev.kvasir.cuda.memory.PagePools;
import dev.kvasir.model.LayerRange;
import java.util.List;
import java.util.Optional;

/**
 * PM-KVQ: codes that are requantized from 16 bits down. 16-bit pages are unchanged fp16 pages.
 * Pages of 8, 4 and 2 bits are {@link PackedPage}s or {@link TokenScaledPage}s, whose scales are a
 * third of the range at any width.
 *
 * @param keyScales the axis of key scales
 * @param shift how codes become narrower
 * @param initialWidth the width at which pages are first quantized
 * @param floors minimum bits of each layer; empty if all layers have the same
 * @param factors factors that keys by token are divided by
 */
public record PmkvqFormat(
    KeyScaleAxis keyScales,
    RightShift shift,
    InitialWidth initialWidth,
    List<Integer> floors,
    Optional<KeyFactors> factors)
    implements CompactPageFormat {
  /** Bits of a code by level; the first level is fp16. */
  static final int[] BITS = {16, 8, 4, 2};

  public PmkvqFormat {
    floors = List.copyOf(floors);
  }

  /** Returns the factor from a stored scale to a quantization step. */
  static float unit(int bits) {
    return 3f / ((1 << bits) - 1);
  }

  /** Returns the format with other factors. */
  public PmkvqFormat withFactors(KeyFactors other) {
    return new PmkvqFormat(keyScales, shift, initialWidth, floors, Optional.of(other));
  }

  @Override
  public PageFormat ofLayers(LayerRange range) {
    List<Integer> own = floors.isEmpty() ? floors : floors.subList(range.first(), range.end());
    return new PmkvqFormat(
        keyScales,
        shift,
        initialWidth,
        own.stream().distinct().count() == 1 ? List.of() : own,
        factors.map(all -> all.ofLayers(range)));
  }

  /** Returns the layers that have the same widths at any time. */
  LayerGroups groups(int layers) {
    return floors.isEmpty()
        ? LayerGroups.single(layers)
        : LayerGroups.of(floors.stream().mapToInt(Integer::intValue).toArray());
  }

  /** Returns the bits of the widest codes. */
  @Override
  public int bits() {
    return BITS[1];
  }

  @Override
  public String kernelName() {
    return keyScales == KeyScaleAxis.TOKEN ? "tokenwidths" : "widths";
  }

  /** Returns the bytes of a page of the widest codes. */
  @Override
  public int pageBytes(int headDim) {
    return pageBytes(1, headDim);
  }

  /** Returns the bytes of a page at a level. */
  int pageBytes(int level, int headDim) {
    return level == 0 ? new Fp16Page(headDim).bytes() : pageBytesOf(BITS[level], headDim);
  }

  /**
   * Returns the bytes of a packed page.
   *
   * @param bits 2, 4 or 8
   */
  public int pageBytesOf(int bits, int headDim) {
    return keyScales == KeyScaleAxis.TOKEN
        ? new TokenScaledPage(bits, headDim).bytes()
        : new PackedPage(bits, headDim).bytes();
  }

  @Override
  public boolean requantizes() {
    return true;
  }

  @Override
  public PageLevels newLevels(
      KernelModule module,
      CudaStream stream,
      AttentionShape shape,
      PagePool fp16Pool,
      PagePools pools) {
    return new BitWidthPools(module, stream, this, shape, fp16Pool, pools);
  }

  @Override
  public PageQuantizer newQuantizer(
      KernelModule module, CudaStream stream, DeviceCacheConfig cacheConfig, AttentionShape shape) {
    return null;
  }

  @Override
  public AuxiliaryKernels newAuxiliaryKernels(
      KernelModule module, CudaStream stream, AttentionShape shape, int maxSequences) {
    return factors
        .<AuxiliaryKernels>map(known -> QueryFactors.of(module, stream, known, shape))
        .orElse(AuxiliaryKernels.NONE);
  }

  @Override
  public String toString() {
    return keyScales == KeyScaleAxis.TOKEN ? "pmkvq,keys=token" : "pmkvq";
  }

  /**
   * The factors that queries are multiplied by, which attention reads as its tables.
   *
   * @param memory (layers, kvHeads, headDim)
   */
  private record QueryFactors(DeviceMemory memory, long layerBytes) implements AuxiliaryKernels {
    static QueryFactors of(
        KernelModule module, CudaStream stream, KeyFactors factors, AttentionShape shape) {
      long layerBytes = (long) Float.BYTES * shape.kvHeads() * shape.headDim();
      return new QueryFactors(factors.upload(module.context(), stream), layerBytes);
    }

    @Override
    public long tableAddress(int layer) {
      return memory.address() + layer * layerBytes;
    }

    @Override
    public void close() {
      memory.close();
    }
  }
}
