package dev.kvasir.codec.basis;

/**
 * The transforms of a layer's keys and values before quantization: a change of basis, then
 * clipping.
 */
public record LayerBasis(
    HeadBasis keys, Clipping keyClipping, HeadBasis values, Clipping valueClipping) {
  /** Creates a basis with the same clipping for keys and values. */
  public LayerBasis(HeadBasis keys, HeadBasis values, Clipping clipping) {
    this(keys, clipping, values, clipping);
  }
}
