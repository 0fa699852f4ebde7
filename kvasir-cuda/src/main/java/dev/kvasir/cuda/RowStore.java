package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;

/**
 * Brings new keys and values to their pages, and packs pages that are full. Both are launches
 * without a wait; arguments lie on the device.
 */
public final class RowStore {
  private static final int PACKING_THREADS = 256;

  /**
   * How pages of layers lie: those of the next one so many bytes further.
   *
   * @param halfStride of pages of halves
   * @param packedStride of packed ones
   */
  public record Layers(int count, long halfStride, long packedStride) {
    public static final Layers ONE = new Layers(1, 0, 0);
  }

  private final int kvHeads;
  private final int headDim;
  private final Launch append;
  private final Launch pack;
  private final Launch unpack;

  /**
   * @param format that pages are packed to; pages of halves stay as they are
   */
  public RowStore(KernelModule module, PageFormat format, AttentionShape shape) {
    HeadBlocks.of(format, shape); // refuses heads without kernels
    this.kvHeads = shape.kvHeads();
    this.headDim = shape.headDim();
    this.append =
        new Launch(
                module.kernel("append_d" + headDim), Long.BYTES, Long.BYTES, Long.BYTES, Long.BYTES)
            .block(headDim / 2);
    this.pack = format.isPacked() ? packing(module, format) : null;
    this.unpack =
        format.isPacked()
            ? new Launch(
                    module.kernel("unpack_%s_d%d".formatted(format.kernelName(), headDim)),
                    Long.BYTES,
                    Long.BYTES,
                    Long.BYTES)
                .block(PACKING_THREADS)
            : null;
  }

  private Launch packing(KernelModule module, PageFormat format) {
    Kernel kernel = module.kernel("pack_%s_d%d".formatted(format.kernelName(), headDim));
    // Rows of halves, and a scale and a zero for 32 of them.
    int sharedBytes = HalfPage.TOKENS * headDim * 2 + HalfPage.TOKENS * headDim / 32 * 4;
    kernel.allowSharedBytes(sharedBytes);
    return new Launch(kernel, Long.BYTES, Long.BYTES, Long.BYTES, Integer.BYTES, Integer.BYTES)
        .block(PACKING_THREADS)
        .shared(sharedBytes);
  }

  /**
   * @param places on the device, a u64 for each row: the address of its page, of the first KV head,
   *     and in the lower six bits its token there
   * @param layerOffset from those pages to the layer's own
   * @param keys on the device, halves // (rows, kvHeads, headDim)
   * @param values like them
   */
  public void append(
      Stream stream, int rows, long places, long layerOffset, long keys, long values) {
    append
        .grid(rows, kvHeads, 1)
        .argument(0, places)
        .argument(1, layerOffset)
        .argument(2, keys)
        .argument(3, values)
        .on(stream);
  }

  /**
   * Packs pages of one layer or of several, to the bits of the host's codec of the same groups.
   *
   * @param packings on the device, two u64 for each page: the address of the full page of halves,
   *     and that of the packed one, both of the first layer and KV head
   * @param layers with their strides from a layer's pages to the next one's
   * @param keyGroup tokens that share a channel's scale: 32, 64, or 128, which are two pages that
   *     follow each other in {@code packings}; scales are stored for 32 of them all the same
   * @param valueGroup channels that share a token's scale: a multiple of 32
   */
  public void pack(
      Stream stream, int pages, long packings, Layers layers, int keyGroup, int valueGroup) {
    if (pack == null) {
      throw new IllegalStateException("pages of halves are not packed");
    }
    if (keyGroup != 32 && keyGroup != 64 && keyGroup != 2 * HalfPage.TOKENS) {
      throw new DeviceRefusal(
          "keys cannot share a scale by %d tokens on a device; expected 32, 64 or 128"
              .formatted(keyGroup));
    }
    if (keyGroup == 2 * HalfPage.TOKENS && pages % 2 != 0) {
      throw new IllegalArgumentException(
          "pages is %d; expected pairs of them, which share scales".formatted(pages));
    }
    if (valueGroup < 32 || valueGroup % 32 != 0) {
      throw new DeviceRefusal(
          "values cannot share a scale by %d channels on a device; expected a multiple of 32"
              .formatted(valueGroup));
    }
    pack.grid(pages, kvHeads, layers.count())
        .argument(0, packings)
        .argument(1, layers.halfStride())
        .argument(2, layers.packedStride())
        .argument(3, keyGroup)
        .argument(4, valueGroup)
        .on(stream);
  }

  /** The same with as many channels of a value that share a scale as tokens of a key. */
  void pack(Stream stream, int pages, long packings, Layers layers, int group) {
    pack(stream, pages, packings, layers, group, group);
  }

  /** Makes halves of packed pages again, as attention takes them; pairs are those of packing. */
  void unpack(Stream stream, int pages, long packings, Layers layers) {
    unpack
        .grid(pages, kvHeads, layers.count())
        .argument(0, packings)
        .argument(1, layers.halfStride())
        .argument(2, layers.packedStride())
        .on(stream);
  }
}
