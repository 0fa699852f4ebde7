package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.driver.CudaStream;

/**
 * Quantizes full fp16 pages and dequantizes packed ones. Launches are asynchronous.
 *
 * <p>Pairs are two u64 per page on the device: the addresses of the fp16 page and of the packed
 * page, both of the first layer and KV head. Two consecutive pages are a block.
 */
public interface PageQuantizer extends AutoCloseable {
  /**
   * A range of layers and the byte distances between the pages of consecutive layers.
   *
   * @param first first layer
   * @param count number of layers
   * @param fp16Stride distance between fp16 pages
   * @param packedStride distance between packed pages
   * @param tableStride distance between table pages
   */
  record LayerStrides(int first, int count, long fp16Stride, long packedStride, long tableStride) {
    public static final LayerStrides ONE = new LayerStrides(1, 0, 0, 0);

    /** Describes all layers. */
    public LayerStrides(int count, long fp16Stride, long packedStride, long tableStride) {
      this(0, count, fp16Stride, packedStride, tableStride);
    }

    /** Returns the strides of one layer; all layers share its fp16 pages. */
    public LayerStrides only(int layer) {
      return new LayerStrides(layer, 1, 0, packedStride, tableStride);
    }
  }

  /** Returns the number of metadata longs per block, such as addresses of its sequence's tables. */
  default int metadataLongs() {
    return 0;
  }

  default int metadataLongs(int layers) {
    return metadataLongs();
  }

  /**
   * Quantizes pages.
   *
   * @param pairs device address
   * @param metadata device address, {@link #metadataLongs} for each block
   */
  void quantize(CudaStream stream, int pages, long pairs, long metadata, LayerStrides layers);

  /** Frees the memory used for quantization. */
  @Override
  default void close() {}

  /**
   * Dequantizes pages to the numbers that attention computes with. Pairs of zeros are skipped.
   *
   * @param metadata device address, used if the format needs it
   */
  void dequantize(CudaStream stream, int pages, long pairs, long metadata, LayerStrides layers);
}
