package dev.kvasir.cuda;

/**
 * How far behind the pages that a table names, those of the first layer, the pages of another one
 * lie.
 *
 * @param packed of packed ones; of eight bits, where pages shrink
 * @param tables of what sequences have beside their pages
 * @param fours of pages of four bits, where pages shrink
 * @param twos of those of two bits
 */
public record LayerOffsets(
    int layer, long packed, long fp16, long tables, long fourBit, long twoBit) {
  public static final LayerOffsets FIRST = of(0, 0);

  /** Of pages of one layer, to measure with. */
  public static LayerOffsets of(long packed, long halves) {
    return new LayerOffsets(0, packed, halves, 0, 0, 0);
  }
}
