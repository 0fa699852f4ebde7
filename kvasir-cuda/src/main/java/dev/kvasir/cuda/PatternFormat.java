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
record PatternFormat(int bits, int patterns, boolean grows, double alpha) implements PageFormat {
  /** Of a query with all patterns, or of weights of all: four heads of 256 floats. */
  static final int TABLE_BYTES = PatternPage.MOST_PATTERNS * HeadBlocks.SET * Float.BYTES;

  private static final int MOST_WARPS = 12;

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
  public int mostHeads(int headDim) {
    return HeadBlocks.SET;
  }

  /**
   * A block brings a pattern that those after it have too: it must be packed when the host's is.
   */
  @Override
  public boolean isPackedByPosition() {
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
  public int mostWarps() {
    return MOST_WARPS;
  }

  /** Of a value's range that may be left at the most. */
  double largestRatio(int headDim) {
    return alpha < 1 ? FlatteningGate.largestRatio(headDim, alpha) : Double.POSITIVE_INFINITY;
  }

  @Override
  public PagePacker packer(
      KernelModule module, Stream stream, PageKind kind, AttentionShape shape) {
    return new PatternPacker(module, this, shape, kind.group(), kind.group());
  }

  @Override
  public AttentionAid aid(
      KernelModule module, Stream stream, AttentionShape shape, int mostSequences) {
    return new PatternAid(module, stream, shape, mostSequences);
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
  public SequenceTables tables(KindPages home) {
    return new PatternBanks(home, this);
  }

  @Override
  public String toString() {
    return "patternkv:" + bits;
  }
}
