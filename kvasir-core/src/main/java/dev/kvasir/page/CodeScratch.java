package dev.kvasir.page;

/**
 * A worker's scratch memory for quantizing and dequantizing a {@link CodeMatrix}. Arrays grow to
 * the largest matrix; their contents do not survive a call.
 */
public final class CodeScratch {
  private float[] values = {};
  private float[] rows = {};
  private byte[] codes = {};
  private byte[] packed = {};
  private short[] shortCodes = {};
  private int[] words = {};

  /** Returns an array for the numbers of a matrix: (rows, columns). */
  public float[] values(int count) {
    if (values.length < count) {
      values = new float[count];
    }
    return values;
  }

  /** Returns an array for codes of up to 8 bits: (rows, columns). */
  public byte[] codes(int count) {
    if (codes.length < count) {
      codes = new byte[count];
    }
    return codes;
  }

  /** Returns an array for the packed bytes of a matrix. */
  byte[] packed(int count) {
    if (packed.length < count) {
      packed = new byte[count];
    }
    return packed;
  }

  /** Returns an array with a word per column. */
  int[] words(int columns) {
    if (words.length < columns) {
      words = new int[columns];
    }
    return words;
  }

  /** Returns an array for 16-bit codes: (stored rows, stored columns). */
  short[] shortCodes(int count) {
    if (shortCodes.length < count) {
      shortCodes = new short[count];
    }
    return shortCodes;
  }

  /** Returns an array for numbers in the order of 16-bit codes: (stored rows, stored columns). */
  float[] rows(int count) {
    if (rows.length < count) {
      rows = new float[count];
    }
    return rows;
  }
}
