package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.mixkvq.QuerySpan;
import dev.kvasir.codec.mixkvq.Salience;
import dev.kvasir.codec.mixkvq.Thresholds;
import java.util.SortedSet;

/**
 * Channels of keys in tiers by what queries look at, values in two bits: {@link MixedPage}.
 *
 * @param blocksTogether blocks that have their tiers in common
 */
public record MixedFormat(
    Thresholds thresholds, Salience salience, QuerySpan span, int blocksTogether)
    implements PageFormat {
  static final String NAME = "mixed";

  private static final int MOST_WARPS = 12;

  boolean seesQueries() {
    return salience == Salience.QUERY;
  }

  @Override
  public int bits() {
    return MixedPage.BITS;
  }

  @Override
  public String kernelName() {
    return NAME;
  }

  @Override
  public int pageBytes(int headDim) {
    return new MixedPage(headDim).bytes();
  }

  @Override
  public SortedSet<Integer> headDims() {
    return HeadBlocks.COMMON_HEAD_DIMS;
  }

  @Override
  public int mostHeads(int headDim) {
    return HeadBlocks.SET;
  }

  /** A block's tiers come of the queries since the last one was packed: it must be the host's. */
  @Override
  public boolean isPackedByPosition() {
    return false;
  }

  /** Queries of four heads as halves. */
  @Override
  public int blockBytes() {
    return HeadBlocks.SET * HeadBlocks.COMMON_HEAD_DIMS.last() * Short.BYTES;
  }

  @Override
  public int mostWarps() {
    return MOST_WARPS;
  }

  @Override
  public PagePacker packer(
      KernelModule module, Stream stream, PageKind kind, AttentionShape shape) {
    return new MixedPacker(module, this, shape, kind.group(), kind.group());
  }

  @Override
  public AttentionAid aid(
      KernelModule module, Stream stream, AttentionShape shape, int mostSequences) {
    return seesQueries() ? new QueryAid(module, shape) : AttentionAid.NONE;
  }

  /** Of sums that count and of those that will be next. */
  @Override
  public int tableBytes(int headDim) {
    return seesQueries() ? 2 * headDim * Long.BYTES : 0;
  }

  @Override
  public int tablePages(int blocks) {
    return seesQueries() ? 1 : 0;
  }

  @Override
  public int tableEntries() {
    return 1;
  }

  @Override
  public SequenceTables tables(KindPages home) {
    return new MixedTables(home, this);
  }

  /**
   * Lets random pages have wider channels, which are random too, to measure with.
   *
   * @param pages one after another
   * @param bytes of them
   * @return where their wider channels lie
   */
  public static DeviceMemory pretend(
      KernelModule module, Stream stream, int headDim, DeviceMemory pages, long bytes) {
    int mid = headDim / TierPlans.PRETENDED_MID;
    int kept = headDim / TierPlans.PRETENDED_KEPT;
    long each = MixedPage.widerBytes(mid, kept);
    int count = Math.toIntExact(bytes / new MixedPage(headDim).bytes());
    DeviceMemory wider = module.context().allocate(count * each);
    wider.scramble(stream);
    new Launch(module.kernel("pretend_mixed_d" + headDim), 8, 8, 8, 4, 4)
        .grid(count, 1, 1)
        .block(32)
        .argument(0, pages.address())
        .argument(1, wider.address())
        .argument(2, each)
        .argument(3, mid)
        .argument(4, kept)
        .on(stream);
    stream.synchronize();
    return wider;
  }

  @Override
  public String toString() {
    return "mixkvq";
  }
}
