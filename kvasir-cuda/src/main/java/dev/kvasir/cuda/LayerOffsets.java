package dev.kvasir.cuda;

/**
 * How far behind the pages that a table names, those of the first layer, the pages of another one
 * lie.
 *
 * @param tables of what sequences have beside their pages
 */
public record LayerOffsets(int layer, long packed, long halves, long tables) {
  public static final LayerOffsets FIRST = new LayerOffsets(0, 0, 0, 0);
}
