package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;
import java.util.SortedSet;

/**
 * How a sequence's older pages lie on a device, and what packs and reads them. Its newest tokens
 * are halves in any case, and so are its sinks. A format says here what its kernels take; {@link
 * DeviceCacheConfig} says which caches it serves.
 */
public sealed interface PageFormat
    permits CommvqFormat, Fp16Format, MixkvqFormat, PatternkvFormat, KiviFormat, PmkvqFormat {
  /** Halves. */
  PageFormat FP16 = new Fp16Format();

  /** Codes of four bits, keys by channel and values by token. */
  PageFormat KIVI4 = new KiviFormat(4);

  /** Codes of two bits. */
  PageFormat KIVI2 = new KiviFormat(2);

  /** Of a number's code. */
  int bits();

  default boolean isQuantized() {
    return true;
  }

  /** Whether pages become narrower when they are packed already. */
  default boolean requantizes() {
    return false;
  }

  /** Blocks that are packed together. */
  default int blocksPerRun() {
    return 1;
  }

  /** As kernels are named. */
  String kernelName();

  /** Bytes of 64 tokens of one KV head. */
  int pageBytes(int headDim);

  /** Bytes that a warp takes at a time. */
  default int unitBytes(int headDim) {
    return pageBytes(headDim);
  }

  /** Units of a page. */
  default int pageUnits() {
    return 1;
  }

  /** Channels of a head that there are kernels for. */
  default SortedSet<Integer> headDims() {
    return HeadBlocks.HEAD_DIMS;
  }

  /** Query heads that a block takes at the most. */
  int maxHeads(int headDim);

  /** Whether many rows of a prompt read packed pages as they are; else those are unpacked first. */
  default boolean prefillReadsPacked() {
    return false;
  }

  /** Whether such a cache is packed by position alone, at multiples of 256 tokens. */
  default boolean isQuantizedByPosition() {
    return true;
  }

  /** Shared memory of a warp beside its ring. */
  default int warpBytes() {
    return 0;
  }

  /** Shared memory of a block beside that of its warps. */
  default int blockBytes() {
    return 0;
  }

  /** Warps of a block that its registers allow. */
  default int maxWarps() {
    return HeadBlocks.MAX_WARPS;
  }

  /**
   * What packs pages to this format; null where nothing is packed.
   *
   * @param kind whose groups they have
   */
  PageQuantizer newQuantizer(
      KernelModule module, CudaStream stream, DeviceCacheConfig cacheConfig, AttentionShape shape);

  /** What attention takes beside pages. */
  default AuxiliaryKernels newAuxiliaryKernels(
      KernelModule module, CudaStream stream, AttentionShape shape, int maxSequences) {
    return AuxiliaryKernels.NONE;
  }

  /** Bytes of a page of tables that a sequence has beside its pages, of one KV head; 0 for none. */
  default int tableBytes(int headDim) {
    return 0;
  }

  /** Pages of tables that a sequence of so many blocks has at the most. */
  default int tablePages(int blocks) {
    return 0;
  }

  /** What is in a page of tables at the most. */
  default int tableEntries() {
    return 0;
  }

  /** What a new sequence has beside its pages. */
  default SequenceTables newTables(CacheResources resources) {
    return SequenceTables.NONE;
  }
}
