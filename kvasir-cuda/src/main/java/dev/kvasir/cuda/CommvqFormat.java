package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.CommvqProfile;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Indices of codebook rows: {@link CodebookPage}. Attention is two kernels: scores of keys, which
 * are added up from their rows ({@link CommvqScoreKernels}), and outputs, for which weights are
 * summed by row.
 *
 * @param bits for each channel, about: 1 or 2
 * @param model null for whoever asks for sizes only
 */
public record CommvqFormat(int bits, CommvqCodebooks codebooks) implements PageFormat {
  /** Bits that there are kernels for. */
  static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(1, 2));

  /** That the registers of its kernel allow. */
  private static final int MAX_WARPS = 12;

  @Override
  public String kernelName() {
    return "commvq" + bits;
  }

  CodebookPage page(int headDim) {
    return new CodebookPage(CommvqProfile.stages(bits, headDim));
  }

  private CodebookTableLayout layout(int headDim) {
    return new CodebookTableLayout(headDim, CommvqProfile.stages(bits, headDim));
  }

  /** Refuses a device whose blocks have less shared memory than codebooks take there. */
  void requireSharedMemory(Device device, int bytes) {
    if (bytes > device.sharedMemoryBytes()) {
      throw new DeviceException(
          "%s has %,d bytes of shared memory for a block; pages of %s take %,d"
              .formatted(device.name(), device.sharedMemoryBytes(), this, bytes));
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
  public int maxWarps() {
    return MAX_WARPS;
  }

  @Override
  public SortedSet<Integer> headDims() {
    return HeadBlocks.COMMON_HEAD_DIMS;
  }

  @Override
  public int maxHeads(int headDim) {
    return HeadBlocks.SET_HEADS;
  }

  @Override
  public boolean isQuantizedByPosition() {
    return false;
  }

  @Override
  public PageQuantizer newQuantizer(
      KernelModule module, CudaStream stream, DeviceCacheConfig cacheConfig, AttentionShape shape) {
    return new CommvqPageQuantizer(module, stream, this, shape);
  }

  @Override
  public SequenceTables newTables(CacheResources resources) {
    return BlockPositions.INSTANCE;
  }

  @Override
  public AuxiliaryKernels newAuxiliaryKernels(
      KernelModule module, CudaStream stream, AttentionShape shape, int maxSequences) {
    return new CommvqScoreKernels(module, stream, this, shape);
  }

  @Override
  public String toString() {
    return "commvq:" + bits;
  }
}
