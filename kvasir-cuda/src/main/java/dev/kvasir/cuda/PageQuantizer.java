package dev.kvasir.cuda;

/**
 * Packs full pages of halves, and makes halves of packed ones again; launches without a wait.
 *
 * <p>Pairs lie on the device, two u64 for each page: the address of the page of halves, and that of
 * the packed one, both of the first layer and KV head. Two pages that follow each other are a
 * block.
 */
public interface PageQuantizer extends AutoCloseable {
  /**
   * How pages of layers lie: those of the next one so many bytes further.
   *
   * @param first of those that are meant
   * @param count of them
   * @param halfStride of pages of halves
   * @param packedStride of packed ones
   * @param tableStride of tables that a sequence has beside its pages
   */
  record LayerStrides(int first, int count, long fp16Stride, long packedStride, long tableStride) {
    public static final LayerStrides ONE = new LayerStrides(1, 0, 0, 0);

    /** All of them. */
    public LayerStrides(int count, long halfStride, long packedStride, long tableStride) {
      this(0, count, halfStride, packedStride, tableStride);
    }

    /** One of them, whose halves lie where those of any other would. */
    LayerStrides only(int layer) {
      return new LayerStrides(layer, 1, 0, packedStride, tableStride);
    }
  }

  /** Longs that a block takes beside its pairs: where tables of its sequence lie. */
  default int metadataLongs() {
    return 0;
  }

  /** The same with so many layers, where each of them takes its own. */
  default int metadataLongs(int layers) {
    return metadataLongs();
  }

  /**
   * @param pairs on the device
   * @param beside on the device, {@link #metadataLongs} for each block
   */
  void quantize(CudaStream stream, int pages, long pairs, long metadata, LayerStrides layers);

  /** Gives back what it has taken to pack with. */
  @Override
  default void close() {}

  /**
   * As attention takes packed pages; halves are written, but for pairs of zeros.
   *
   * @param beside on the device, where unpacking takes anything
   */
  void dequantize(CudaStream stream, int pages, long pairs, long metadata, LayerStrides layers);
}
