package dev.kvasir.kernel;

/**
 * Tokens of a page as codes of additive codebooks whose vectors are rotated to the tokens'
 * positions: an operand of {@link CodebookKernels}. A reader keeps one and repoints it for each
 * page. Not thread-safe.
 */
public final class RotaryCodes {
  private Int8Codebooks codebooks;
  private byte[] indices;
  private float[] scales;
  private float[] cosines;
  private float[] sines;

  /**
   * Points this operand at other tokens.
   *
   * @param indices codewords of the tokens, one of each set // (sets, page tokens)
   * @param scales // (page tokens)
   * @param cosines // (page tokens, pairs), as the sines
   */
  public RotaryCodes set(
      Int8Codebooks codebooks, byte[] indices, float[] scales, float[] cosines, float[] sines) {
    this.codebooks = codebooks;
    this.indices = indices;
    this.scales = scales;
    this.cosines = cosines;
    this.sines = sines;
    return this;
  }

  public Int8Codebooks codebooks() {
    return codebooks;
  }

  /** (sets, page tokens). */
  public byte[] indices() {
    return indices;
  }

  /** (page tokens). */
  public float[] scales() {
    return scales;
  }

  /** (page tokens, pairs). */
  public float[] cosines() {
    return cosines;
  }

  /** (page tokens, pairs). */
  public float[] sines() {
    return sines;
  }
}
