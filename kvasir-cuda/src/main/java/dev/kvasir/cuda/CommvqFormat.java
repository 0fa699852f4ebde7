package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.CommvqProfile;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Indices of codebook rows: {@link CodebookPage}. Attention is two kernels: scores of keys, which
 * are added up from their rows ({@link CommvqScores}), and outputs, for which weights are summed by
 * row.
 *
 * @param bits for each channel, about: 1 or 2
 * @param model null for whoever asks for sizes only
 */
public record CommvqFormat(int bits, CommvqModel model) implements PageFormat {
  /** Bits that there are kernels for. */
  static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(1, 2));

  /** That the registers of its kernel allow. */
  private static final int MOST_WARPS = 12;

  @Override
  public String kernelName() {
    return "commvq" + bits;
  }

  CodebookPage page(int headDim) {
    return new CodebookPage(CommvqProfile.stages(bits, headDim));
  }

  private CodebookTables layout(int headDim) {
    return new CodebookTables(headDim, CommvqProfile.stages(bits, headDim));
  }

  /** Refuses a device whose blocks have less shared memory than codebooks take there. */
  void requireShared(Device device, int bytes) {
    if (bytes > device.sharedBytes()) {
      throw new DeviceRefusal(
          "%s has %,d bytes of shared memory for a block; pages of %s take %,d"
              .formatted(device.name(), device.sharedBytes(), this, bytes));
    }
  }

  @Override
  public int pageBytes(int headDim) {
    return page(headDim).bytes();
  }

  /** Pages are not brought to shared memory, but every warp has bins there. */
  @Override
  public int unitBytes(int headDim) {
    return layout(headDim).warpBytes();
  }

  @Override
  public int mostWarps() {
    return MOST_WARPS;
  }

  @Override
  public SortedSet<Integer> headDims() {
    return HeadBlocks.COMMON_HEAD_DIMS;
  }

  @Override
  public int mostHeads(int headDim) {
    return HeadBlocks.SET;
  }

  @Override
  public boolean isPackedByPosition() {
    return false;
  }

  @Override
  public PagePacker packer(
      KernelModule module, Stream stream, PageKind kind, AttentionShape shape) {
    return new CommvqPacker(module, stream, this, shape);
  }

  @Override
  public SequenceTables tables(KindPages home) {
    return BlockPositions.OF_ALL;
  }

  @Override
  public AttentionAid aid(
      KernelModule module, Stream stream, AttentionShape shape, int mostSequences) {
    return new CommvqScores(module, stream, this, shape);
  }

  @Override
  public String toString() {
    return "commvq:" + bits;
  }
}
