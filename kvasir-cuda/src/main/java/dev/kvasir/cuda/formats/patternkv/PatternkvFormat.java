package dev.kvasir.cuda.formats.patternkv;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.patternkv.FlatteningGate;
import dev.kvasir.codec.patternkv.PatternChoice;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.CompactPageFormat;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.SequenceTableFactory;
import dev.kvasir.cuda.formats.SequenceTables;
import dev.kvasir.cuda.memory.PagePools;
import dev.kvasir.kernel.Rotation;
import java.util.Optional;

/**
 * PatternKV: codes of the residuals of keys and values from patterns, as in {@link PatternPage}.
 *
 * @param bits 2 or 4
 * @param patterns number of patterns mined from the first blocks
 * @param grows whether every further block adds a pattern
 * @param alpha allowed probability that a pattern widens a value's error; 1 for no limit
 * @param choice the measure that selects the pattern of a key
 * @param sides which vectors have patterns: bit 0 for keys, bit 1 for values
 * @param rotates whether key patterns are stored before RoPE
 * @param rotation the RoPE of those patterns; empty also if only sizes are needed
 */
public record PatternkvFormat(
    int bits,
    int patterns,
    boolean grows,
    double alpha,
    PatternChoice choice,
    int sides,
    boolean rotates,
    Optional<KeyRotation> rotation)
    implements CompactPageFormat {
  static final int KEYS = 1;
  static final int VALUES = 2;

  /** Size of a table of scores or of weights: four heads of 256 floats. */
  static final int TABLE_BYTES = PatternPage.MAX_PATTERNS * HeadBlocks.SET_HEADS * Float.BYTES;

  /** Tokens whose RoPE angles attention keeps in shared memory. */
  private static final int OFFSETS = 32;

  private static final int ROTARY_WARPS = 8;

  /**
   * Returns this format with the RoPE of a model, if key patterns rotate.
   *
   * @param firstPosition position of the first quantized token: the number of sinks
   * @param positions maximum length of a sequence
   */
  public PatternkvFormat withRotation(Rotation rope, int firstPosition, int positions) {
    return new PatternkvFormat(
        bits,
        patterns,
        grows,
        alpha,
        choice,
        sides,
        rotates,
        rotates ? Optional.of(new KeyRotation(rope, firstPosition, positions)) : Optional.empty());
  }

  @Override
  public String kernelName() {
    return (rotates ? "rotary" : "patterns") + bits;
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
    return blockBytes(HeadBlocks.COMMON_HEAD_DIMS.last());
  }

  /** Returns the size of the score table, or of RotaryPart in patterns.cuh without weights. */
  @Override
  public int blockBytes(int headDim) {
    int rowBytes = headDim * Short.BYTES;
    int queryBytes = headDim * Float.BYTES + 64;
    return rotates
        ? (PatternPage.MAX_PATTERNS + OFFSETS) * rowBytes + HeadBlocks.SET_HEADS * queryBytes
        : TABLE_BYTES;
  }

  @Override
  public int maxWarps() {
    return rotates ? ROTARY_WARPS : CompactPageFormat.super.maxWarps();
  }

  /** Returns the largest allowed ratio of a residual's range to a value's range. */
  double largestRatio(int headDim) {
    return alpha < 1 ? FlatteningGate.largestRatio(headDim, alpha) : Double.POSITIVE_INFINITY;
  }

  @Override
  public PageQuantizer newQuantizer(
      KernelModule module, CudaStream stream, DeviceCacheConfig cacheConfig, AttentionShape shape) {
    return new PatternPageQuantizer(
        module, stream, this, shape, cacheConfig.group(), cacheConfig.group());
  }

  @Override
  public AuxiliaryKernels newAuxiliaryKernels(
      KernelModule module, CudaStream stream, AttentionShape shape, int maxSequences) {
    return new PatternScoreKernels(module, stream, this, shape, maxSequences);
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
    return new BankFactory(this, new PatternMiner(module, this, shape));
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("patternkv:").append(bits);
    boolean keys = (sides & KEYS) != 0;
    if (!keys) {
      text.append(",k-patterns=off");
    } else if (!rotates) {
      text.append(",rope=static");
    }
    return (sides & VALUES) != 0 ? text.toString() : text.append(",v-patterns=off").toString();
  }

  /** Creates the banks of sequences, which share a miner. */
  private record BankFactory(PatternkvFormat format, PatternMiner miner)
      implements SequenceTableFactory {
    @Override
    public SequenceTables newTables(CacheResources resources) {
      return new PatternBanks(resources, format, miner);
    }

    @Override
    public void close() {
      miner.close();
    }
  }
}
