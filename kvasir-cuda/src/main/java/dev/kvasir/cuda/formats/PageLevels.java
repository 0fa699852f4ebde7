package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.memory.PagePool;

/**
 * Page pools by group of layers and bit width, and the kernels that requantize between them. Level
 * 0 holds fp16 pages; each further level has fewer bits. Page tables distinguish three packed
 * levels.
 *
 * <p>A single group leaves blocks of level 0 in the fp16 pages of all layers. Several groups copy
 * their layers to pages of their own, because they become narrower at different times.
 */
public interface PageLevels extends AutoCloseable {
  LayerGroups groups();

  /** Returns the number of levels, including fp16. */
  int count();

  PagePool pool(int group, int level);

  /** Returns the code bytes of a packed page in all layers of a group. */
  long codeBytes(int group, int level);

  /** Returns whether blocks of level 0 stay in the fp16 pages of all layers. */
  default boolean sharesFp16() {
    return groups().count() == 1;
  }

  /**
   * Quantizes full fp16 pages of all layers directly to a level, as if they had never been wider.
   */
  void quantize(PageOperations operations, long[] from, long[] to, int group, int level);

  /**
   * Requantizes pages to a narrower level. Fp16 pages are first rounded to the 16-bit codes that
   * they stand for.
   *
   * @param from pages of whole blocks
   */
  void requantize(
      PageOperations operations, long[] from, int fromLevel, long[] to, int toLevel, int group);

  /**
   * Dequantizes pages to the numbers that attention computes with.
   *
   * @param to fp16 pages of all layers
   */
  void dequantize(PageOperations operations, long[] to, long[] from, int group, int level);

  /** Dequantizes packed pages of one layer, to fp16 pages that all layers share. */
  void dequantizeLayer(CudaStream stream, int pages, long pairs, int level, int layer);

  /** Returns the offset from the first pages of a packed level to those of a layer. */
  default long offset(int level, int layer) {
    LayerGroups groups = groups();
    return groups.index(layer) * pool(groups.group(layer), level).layerStride();
  }

  /** Returns the address that page tables have for a page. */
  long tableAddress(long page, int group, int level);

  @Override
  void close();
}
