package dev.kvasir.cuda.formats;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PagePool;
import dev.kvasir.cuda.memory.PagePools;
import dev.kvasir.model.LayerRange;
import java.util.SortedSet;

/**
 * The format of a sequence's older pages on a device, with the kernels that quantize and read them.
 * Sinks and the residual window are always fp16. A format describes what its kernels need; {@link
 * PageFormatProvider} maps caches to formats.
 */
public interface PageFormat {
  /** Unquantized fp16. */
  PageFormat FP16 = new Fp16Format();

  int bits();

  default boolean isQuantized() {
    return true;
  }

  /**
   * Returns whether packed pages alone hold a sequence's quantized tokens, so that storing works.
   */
  default boolean isStorable() {
    return false;
  }

  /** Returns whether packed pages may be requantized to fewer bits. */
  default boolean requantizes() {
    return false;
  }

  /** Returns the bytes of codes in a packed page of all layers. */
  default long codeBytes(CacheShape shape) {
    return Fp16Page.TOKENS * shape.valuesPerToken() * bits() / Byte.SIZE;
  }

  /**
   * Returns the format of a card that holds some of the layers. It numbers them from 0 on and gives
   * them the same bits.
   *
   * @throws dev.kvasir.cuda.driver.DeviceException if pages cannot be divided
   */
  default PageFormat ofLayers(LayerRange range) {
    return this;
  }

  /** Returns the widths of a layer's codes as attention takes them; 0 if its kernel has one. */
  default int codeWidths(int layer) {
    return 0;
  }

  /**
   * Returns the number that stored sequences name the widths of codes by: the bits, if all have the
   * same.
   */
  default int storedWidths() {
    return bits();
  }

  /** Returns the number that stored sequences name the size of a page by. */
  default int storedPageBytes(int headDim) {
    return pageBytes(headDim);
  }

  /** Returns the number of consecutive blocks that are quantized together. */
  default int blocksPerRun() {
    return 1;
  }

  /** Returns the format's part of kernel names. */
  String kernelName();

  /** Returns the name of the kernel for {@link AttentionLimits}, given that of the other one. */
  default String limitedKernel(String kernel) {
    return kernel + "_limited";
  }

  /** Returns the bytes of a page: 64 tokens of one KV head. */
  int pageBytes(int headDim);

  /** Returns whether the two pages of a block are dequantized together only. */
  default boolean quantizesBlocks() {
    return false;
  }

  /** Returns whether stored bytes have all layers of a page together, not all pages of a layer. */
  default boolean storesLayersTogether() {
    return false;
  }

  /** Returns the bytes of a packed page of all layers and KV heads. */
  default long packedBytes(CacheShape shape) {
    return (long) shape.layers() * shape.kvHeads() * pageBytes(shape.keyDim());
  }

  /** Returns the pool of packed pages. */
  default PagePool packedPool(PagePools pools, int headDim) {
    return pools.pages(kernelName(), pageBytes(headDim));
  }

  /** Returns the bytes from the first layer's packed page to that of another layer. */
  default long packedOffset(PagePool pool, AttentionShape shape, int layer) {
    return layer * pool.layerStride();
  }

  /** Returns the bytes that a warp reads at a time. */
  default int unitBytes(int headDim) {
    return pageBytes(headDim);
  }

  /** Returns the number of such units per page. */
  default int pageUnits() {
    return 1;
  }

  /** Returns the head dimensions with kernels. */
  default SortedSet<Integer> headDims() {
    return HeadBlocks.HEAD_DIMS;
  }

  /** Returns the maximum number of query heads per thread block. */
  int maxHeads(int headDim);

  /** Returns whether prefill reads packed pages directly; otherwise they are dequantized first. */
  default boolean prefillReadsPacked() {
    return false;
  }

  /** Returns whether attention has kernels for windows and soft caps ({@link AttentionLimits}). */
  default boolean attendsWithLimits() {
    return false;
  }

  /** Returns whether quantization depends on positions alone, at multiples of 256 tokens. */
  default boolean isQuantizedByPosition() {
    return true;
  }

  /** Returns the shared memory of a warp, without its ring buffer. */
  default int warpBytes() {
    return 0;
  }

  /** Returns the shared memory of a block, without that of its warps. */
  default int blockBytes() {
    return 0;
  }

  /** Returns {@link #blockBytes()} for heads of {@code headDim} channels. */
  default int blockBytes(int headDim) {
    return blockBytes();
  }

  /** Returns whether thread blocks take several splits in turn, as in turns.cuh. */
  default boolean attendsInTurn() {
    return false;
  }

  /** Returns the maximum number of warps per block, limited by registers. */
  default int maxWarps() {
    return HeadBlocks.MAX_WARPS;
  }

  /**
   * Creates the quantizer of this format; null if nothing is quantized.
   *
   * @param cacheConfig supplies the group sizes
   */
  PageQuantizer newQuantizer(
      KernelModule module, CudaStream stream, DeviceCacheConfig cacheConfig, AttentionShape shape);

  /** Creates the kernels that run before and after attention. */
  default AuxiliaryKernels newAuxiliaryKernels(
      KernelModule module, CudaStream stream, AttentionShape shape, int maxSequences) {
    return AuxiliaryKernels.NONE;
  }

  /** Returns the bytes of a table page of one KV head; 0 if the format has no tables. */
  default int tableBytes(int headDim) {
    return 0;
  }

  /** Returns the maximum number of table pages of a sequence. */
  default int tablePages(int blocks) {
    return 0;
  }

  /** Returns the maximum number of entries in a table page. */
  default int tableEntries() {
    return 0;
  }

  /** Creates what all sequences of a cache configuration need for their tables. */
  default SequenceTableFactory newTableFactory(
      KernelModule module, AttentionShape shape, PagePools pools) {
    return SequenceTableFactory.NONE;
  }

  /** Creates the levels of a format that requantizes; null for other formats. */
  default PageLevels newLevels(
      KernelModule module,
      CudaStream stream,
      AttentionShape shape,
      PagePool fp16Pool,
      PagePools pools) {
    return null;
  }

  /** Returns whether packed pages contain addresses, which benchmarks must not overwrite. */
  default boolean pagesHoldAddresses() {
    return false;
  }

  /**
   * Returns the maximum bytes of blocks outside pages.
   *
   * @param spec cache that uses this format
   * @param context profile of the cache
   * @param blocks number of packed blocks
   */
  default long extraBytes(CacheSpec spec, CacheContext context, CacheShape shape, int blocks) {
    return 0;
  }

  /** Returns the bytes on a device that all sequences of a model share. */
  default long sharedBytes(CacheShape shape) {
    return 0;
  }
}
