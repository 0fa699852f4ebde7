package dev.kvasir.codec.basis;

/**
 * How a layer's keys and values are changed before they are packed: into another basis, and then
 * cut to a part of their ranges.
 */
public record LayerBasis(
    HeadBasis keys, Clipping keyClipping, HeadBasis values, Clipping valueClipping) {
  /** Both cut alike. */
  public LayerBasis(HeadBasis keys, HeadBasis values, Clipping clipping) {
    this(keys, clipping, values, clipping);
  }
}
