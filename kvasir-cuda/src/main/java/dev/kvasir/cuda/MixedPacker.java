package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;

/**
 * Packs pages whose channels were divided into tiers ({@link TierPlans}), to the bits of the host's
 * codec.
 */
final class MixedPacker implements PagePacker {
  private static final int THREADS = 256;

  private final AttentionShape shape;
  private final Launch pack;
  private final Unpacking unpack;

  MixedPacker(
      KernelModule module, MixedFormat format, AttentionShape shape, int keyGroup, int valueGroup) {
    HeadBlocks.of(format, shape); // refuses heads without kernels
    UniformPacker.check(keyGroup, valueGroup);
    this.shape = shape;
    String names = "%s_d%d".formatted(format.kernelName(), shape.headDim());
    int sharedBytes = UniformPacker.sharedBytes(shape.headDim());
    Kernel packing = module.kernel("pack_" + names);
    packing.allowSharedBytes(sharedBytes);
    this.pack =
        new Launch(packing, 8, 8, 8, 8, Integer.BYTES, Integer.BYTES)
            .block(THREADS)
            .shared(sharedBytes)
            .argument(4, keyGroup)
            .argument(5, valueGroup);
    this.unpack = new Unpacking(module.kernel("unpack_" + names), shape.kvHeads());
  }

  /** Of one layer. */
  @Override
  public int besideLongs() {
    return shape.kvHeads() * TierPlans.headLongs(shape.headDim());
  }

  @Override
  public int besideLongs(int layers) {
    return layers * besideLongs();
  }

  @Override
  public void pack(Stream stream, int pages, long pairs, long beside, Layers layers) {
    pack.grid(pages, shape.kvHeads(), layers.count())
        .argument(0, pairs)
        .argument(1, beside)
        .argument(2, layers.halfStride())
        .argument(3, layers.packedStride())
        .on(stream);
  }

  @Override
  public void unpack(Stream stream, int pages, long pairs, long beside, Layers layers) {
    unpack.of(pages, pairs, layers).on(stream);
  }
}
