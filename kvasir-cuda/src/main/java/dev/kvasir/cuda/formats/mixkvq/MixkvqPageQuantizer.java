package dev.kvasir.cuda.formats.mixkvq;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.formats.DequantizeKernel;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.ScaleGroups;

/**
 * Quantizes pages by the tiers of their channels ({@link TierAssignments}), with the same bits as
 * the host codec.
 */
final class MixkvqPageQuantizer implements PageQuantizer {
  private static final int THREADS = 256;

  private final AttentionShape shape;
  private final Launch quantize;
  private final DequantizeKernel dequantize;

  MixkvqPageQuantizer(
      KernelModule module,
      MixkvqFormat format,
      AttentionShape shape,
      int keyGroup,
      int valueGroup) {
    HeadBlocks.of(format, shape); // rejects heads without kernels
    ScaleGroups.check(keyGroup, valueGroup);
    this.shape = shape;
    String names = "%s_d%d".formatted(format.kernelName(), shape.headDim());
    int sharedBytes = ScaleGroups.sharedBytes(shape.headDim());
    Kernel quantizeKernel = module.kernel("pack_" + names);
    quantizeKernel.allowSharedBytes(sharedBytes);
    this.quantize =
        new Launch(quantizeKernel, 8, 8, 8, 8, Integer.BYTES, Integer.BYTES)
            .block(THREADS)
            .shared(sharedBytes)
            .argument(4, keyGroup)
            .argument(5, valueGroup);
    this.dequantize = new DequantizeKernel(module.kernel("unpack_" + names), shape.kvHeads());
  }

  /** Returns the metadata longs per block of one layer. */
  @Override
  public int metadataLongs() {
    return shape.kvHeads() * TierAssignments.headLongs(shape.headDim());
  }

  @Override
  public int metadataLongs(int layers) {
    return layers * metadataLongs();
  }

  @Override
  public void quantize(
      CudaStream stream, int pages, long pairs, long metadata, LayerStrides layers) {
    quantize
        .grid(pages, shape.kvHeads(), layers.count())
        .argument(0, pairs)
        .argument(1, metadata)
        .argument(2, layers.fp16Stride())
        .argument(3, layers.packedStride())
        .on(stream);
  }

  @Override
  public void dequantize(
      CudaStream stream, int pages, long pairs, long metadata, LayerStrides layers) {
    dequantize.prepare(pages, pairs, layers).on(stream);
  }
}
