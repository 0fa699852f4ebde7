package dev.kvasir.cuda.memory;

/**
 * Byte offsets from the first layer's pages, which page tables name, to those of another layer.
 *
 * @param packed offset of packed pages; of 8-bit pages if the format requantizes
 * @param tables offset of the sequence's table pages
 * @param fourBit offset of 4-bit pages if the format requantizes
 * @param twoBit offset of 2-bit pages if the format requantizes
 * @param group group of layers whose page table is read; see {@link PageTable}
 */
public record LayerOffsets(
    int layer, long packed, long fp16, long tables, long fourBit, long twoBit, int group) {
  public static final LayerOffsets FIRST = of(0, 0);

  /** Returns offsets for pages of one layer in benchmarks. */
  public static LayerOffsets of(long packed, long fp16) {
    return new LayerOffsets(0, packed, fp16, 0, 0, 0, 0);
  }
}
