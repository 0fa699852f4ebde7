package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;

/**
 * Packs pages whose channels were divided into tiers ({@link TierAssignments}), to the bits of the
 * host's codec.
 */
final class MixkvqPageQuantizer implements PageQuantizer {
  private static final int THREADS = 256;

  private final AttentionShape shape;
  private final Launch pack;
  private final DequantizeKernel unpack;

  MixkvqPageQuantizer(
      KernelModule module,
      MixkvqFormat format,
      AttentionShape shape,
      int keyGroup,
      int valueGroup) {
    HeadBlocks.of(format, shape); // refuses heads without kernels
    KiviPageQuantizer.check(keyGroup, valueGroup);
    this.shape = shape;
    String names = "%s_d%d".formatted(format.kernelName(), shape.headDim());
    int sharedBytes = KiviPageQuantizer.sharedBytes(shape.headDim());
    Kernel packing = module.kernel("pack_" + names);
    packing.allowSharedBytes(sharedBytes);
    this.pack =
        new Launch(packing, 8, 8, 8, 8, Integer.BYTES, Integer.BYTES)
            .block(THREADS)
            .shared(sharedBytes)
            .argument(4, keyGroup)
            .argument(5, valueGroup);
    this.unpack = new DequantizeKernel(module.kernel("unpack_" + names), shape.kvHeads());
  }

  /** Of one layer. */
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
    pack.grid(pages, shape.kvHeads(), layers.count())
        .argument(0, pairs)
        .argument(1, metadata)
        .argument(2, layers.fp16Stride())
        .argument(3, layers.packedStride())
        .on(stream);
  }

  @Override
  public void dequantize(
      CudaStream stream, int pages, long pairs, long metadata, LayerStrides layers) {
    unpack.prepare(pages, pairs, layers).on(stream);
  }
}
