package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.codec.commvq.CommvqShape;
import dev.kvasir.codec.commvq.KeyScoring;
import dev.kvasir.codec.commvq.ValueCoding;
import dev.kvasir.codec.commvq.ValueEncoder;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Device;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.CompactPageFormat;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.SequenceTableFactory;
import dev.kvasir.cuda.formats.SequenceTables;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PagePools;
import dev.kvasir.model.LayerRange;
import java.util.Locale;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * CommVQ: indices of codebook rows, as in {@link CodebookPage}. Attention runs two kernels. The
 * first computes scores of keys from their rows ({@link CommvqScoreKernels}); the second computes
 * outputs, for which weights are summed by row. Two other ways serve comparisons: {@link
 * CommvqScoreTables} and {@link CommvqDecodedPages}.
 *
 * @param bits approximate bits per channel: 1 or 2
 * @param values how values become codes
 * @param scoring how keys are scored
 * @param codebooks null if only sizes are needed
 */
public record CommvqFormat(
    int bits, ValueCoding values, KeyScoring scoring, CommvqCodebooks codebooks)
    implements CompactPageFormat {
  /** Bit widths with kernels. */
  static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(1, 2));

  private static final SequenceTables BLOCK_POSITIONS = new BlockPositions();

  @Override
  public PageFormat ofLayers(LayerRange range) {
    return codebooks == null
        ? this
        : new CommvqFormat(bits, values, scoring, codebooks.ofLayers(range));
  }

  /** Returns the name of attention kernels, which decoded pages have of their own. */
  @Override
  public String kernelName() {
    return scoring == KeyScoring.DECODED ? pageKernels() + "_decoded" : pageKernels();
  }

  /** Returns the name of kernels that depend on the layout of pages alone. */
  String pageKernels() {
    return "commvq" + bits + (hasNetwork() ? "_bits" : "");
  }

  boolean hasNetwork() {
    return values == ValueCoding.ENCODER;
  }

  CodebookPage page(int headDim) {
    int stages = CommvqProfile.stages(bits, headDim);
    return hasNetwork() ? CodebookPage.ofBits(stages, bits * headDim) : new CodebookPage(stages);
  }

  /** Rejects a device whose thread blocks have too little shared memory for the codebooks. */
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

  /** Returns the bytes of a warp's bins, or of its outputs; pages are not copied. */
  @Override
  public int unitBytes(int headDim) {
    if (scoring == KeyScoring.DECODED) {
      return HeadBlocks.MAX_HEADS * headDim * Float.BYTES;
    }
    return hasNetwork()
        ? NetworkLayout.WARP_BYTES
        : new CodebookTableLayout(headDim, page(headDim).stages(), codebooks.valueHeads())
            .warpBytes();
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
  public SequenceTableFactory newTableFactory(
      KernelModule module, AttentionShape shape, PagePools pools) {
    return resources -> BLOCK_POSITIONS;
  }

  @Override
  public long sharedBytes(CacheShape shape) {
    int headDim = shape.headDim();
    int stages = page(headDim).stages();
    if (hasNetwork()) {
      long width = (long) shape.kvHeads() * headDim;
      long network = ValueEncoder.bytesFor(width, width, bits * width);
      return shape.layers() * network
          + DeviceCodebooks.keyBytes(shape.layers(), shape.kvHeads(), headDim, stages);
    }
    int valueHeads =
        codebooks == null
            ? CommvqShape.defaultValueHeads(shape.kvHeads(), headDim)
            : codebooks.valueHeads();
    return DeviceCodebooks.bytes(shape.layers(), shape.kvHeads(), headDim, stages, valueHeads);
  }

  @Override
  public AuxiliaryKernels newAuxiliaryKernels(
      KernelModule module, CudaStream stream, AttentionShape shape, int maxSequences) {
    return switch (scoring) {
      case SUMS -> new CommvqScoreKernels(module, stream, this, shape);
      case TABLES -> new CommvqScoreTables(module, stream, this, shape);
      case DECODED -> new CommvqDecodedPages(module, stream, this, shape);
    };
  }

  @Override
  public String toString() {
    String name = "commvq:" + bits + (hasNetwork() ? ",values=encoder" : "");
    return scoring == KeyScoring.SUMS
        ? name
        : "%s,scores=%s".formatted(name, scoring.name().toLowerCase(Locale.ROOT));
  }

  /**
   * Tables that supply the position of each block for quantization. They store nothing, since
   * packed pages store their positions.
   */
  private static final class BlockPositions implements SequenceTables {
    private static final int BLOCK_PAGES = Fp16Page.BLOCK_PAGES;

    @Override
    public long[] quantizationMetadata(int position, long[] fp16) {
      long[] positions = new long[fp16.length / BLOCK_PAGES];
      for (int block = 0; block < positions.length; block++) {
        positions[block] = position + (long) block * BLOCK_PAGES * Fp16Page.TOKENS;
      }
      return positions;
    }
  }
}
