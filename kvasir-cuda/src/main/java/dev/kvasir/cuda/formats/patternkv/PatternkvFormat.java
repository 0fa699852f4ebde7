package dev.kvasir.cuda.formats.patternkv;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.patternkv.FlatteningGate;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.CompactPageFormat;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.SequenceTableFactory;
import dev.kvasir.cuda.memory.PagePools;

/**
 * PatternKV: codes of the residuals of keys and values from patterns, as in {@link PatternPage}.
 * The host mines the patterns of each sequence; they are not rotated.
 *
 * @param bits 2 or 4
 * @param patterns number of patterns mined from the first blocks
 * @param grows whether every further block adds a pattern
 * @param alpha allowed probability that a pattern widens a value's error; 1 for no limit
 */
record PatternkvFormat(int bits, int patterns, boolean grows, double alpha)
    implements CompactPageFormat {
  /** Size of a table of scores or of weights: four heads of 256 floats. */
  static final int TABLE_BYTES = PatternPage.MAX_PATTERNS * HeadBlocks.SET_HEADS * Float.BYTES;

  @Override
  public String kernelName() {
    return "patterns" + bits;
  }

  @Override
  public int pageBytes(int headDim) {
    return new PatternPage(bits, headDim).bytes();
  }

  /**
   * Returns false: later blocks use the pattern that a block adds, so it must be quantized when it
   * is on the host.
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

  /** Returns the largest allowed ratio of a residual's range to a value's range. */
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
  public SequenceTableFactory newTableFactory(
      KernelModule module, AttentionShape shape, PagePools pools) {
    return resources -> new PatternBanks(resources, this);
  }

  @Override
  public String toString() {
    return "patternkv:" + bits;
  }
}
