package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.patternkv.FlatteningGate;
import java.util.SortedSet;

/**
 * Codes of what keys and values differ from patterns by: {@link PatternPage}. Patterns are a
 * sequence's own, mined by the host, and stand still.
 *
 * @param bits 2 or 4
 * @param patterns mined from the first blocks
 * @param grows whether every further block adds one
 * @param alpha how likely a pattern may widen a value's error; 1 where it always may
 */
record PatternkvFormat(int bits, int patterns, boolean grows, double alpha) implements PageFormat {
  /** Of a query with all patterns, or of weights of all: four heads of 256 floats. */
  static final int TABLE_BYTES = PatternPage.MAX_PATTERNS * HeadBlocks.SET_HEADS * Float.BYTES;

  private static final int MAX_WARPS = 12;

  @Override
  public String kernelName() {
    return "patterns" + bits;
  }

  @Override
  public int pageBytes(int headDim) {
    return new PatternPage(bits, headDim).bytes();
  }

  @Override
  public SortedSet<Integer> headDims() {
    return HeadBlocks.COMMON_HEAD_DIMS;
  }

  /** A warp's table of weights is for as many. */
  @Override
  public int maxHeads(int headDim) {
    return HeadBlocks.SET_HEADS;
  }

  /**
   * A block brings a pattern that those after it have too: it must be packed when the host's is.
   */
  @Override
  public boolean isQuantizedByPosition() {
    return false;
  }

  @Override
  public int warpBytes() {
    return TABLE_BYTES;
  }

  @Override
  public int blockBytes() {
    return TABLE_BYTES;
  }

  @Override
  public int maxWarps() {
    return MAX_WARPS;
  }

  /** Of a value's range that may be left at the most. */
  double largestRatio(int headDim) {
    return alpha < 1 ? FlatteningGate.largestRatio(headDim, alpha) : Double.POSITIVE_INFINITY;
  }

  @Override
  public PageQuantizer newQuantizer(
      KernelModule module, CudaStream stream, DeviceCacheConfig cacheConfig, AttentionShape shape) {
    return new PatternPageQuantizer(module, this, shape, cacheConfig.group(), cacheConfig.group());
  }

  @Override
  public AuxiliaryKernels newAuxiliaryKernels(
      KernelModule module, CudaStream stream, AttentionShape shape, int maxSequences) {
    return new PatternScoreKernels(module, stream, shape, maxSequences);
  }

  @Override
  public int tableBytes(int headDim) {
    return PatternPage.bankBytes(headDim);
  }

  @Override
  public int tablePages(int blocks) {
    return PatternBanks.banks(this, blocks);
  }

  @Override
  public int tableEntries() {
    return PatternPage.BANK_PATTERNS;
  }

  @Override
  public SequenceTables newTables(CacheResources resources) {
    return new PatternBanks(resources, this);
  }

  @Override
  public String toString() {
    return "patternkv:" + bits;
  }
}
