package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.memory.PagePool;

/**
 * Page pools by bit width, and the kernels that requantize between them. Level 0 holds fp16 pages;
 * each further level has fewer bits. Page tables distinguish three packed levels.
 */
public interface PageLevels {
  /** Returns the number of levels, including fp16. */
  int count();

  PagePool pool(int level);

  /** Returns the code bytes of a packed page in all layers. */
  long codeBytes(int level);

  /** Quantizes full fp16 pages directly to a level, as if they had never been wider. */
  void quantize(PageOperations operations, long[] from, long[] to, int level);

  /**
   * Requantizes pages to a narrower level. Fp16 pages are first rounded to the 16-bit codes that
   * they stand for.
   *
   * @param from pages of whole blocks
   */
  void requantize(PageOperations operations, long[] from, int fromLevel, long[] to, int toLevel);

  /** Dequantizes packed pages to the numbers that attention computes with. */
  void dequantize(PageOperations operations, long[] to, long[] from, int level);

  /** Dequantizes packed pages of one layer, to fp16 pages that all layers share. */
  void dequantizeLayer(CudaStream stream, int pages, long pairs, int level, int layer);

  /** Returns the offset from the first layer's pages of a level to those of another layer. */
  default long offset(int level, int layer) {
    return layer * pool(level).layerStride();
  }
}
