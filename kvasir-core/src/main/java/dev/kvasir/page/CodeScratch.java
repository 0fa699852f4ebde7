package dev.kvasir.page;

/**
 * One worker's room for a grid of codes while it is packed or expanded. Arrays grow to what the
 * largest grid asks for, and hold nothing between two grids.
 */
public final class CodeScratch {
  private float[] values = {};
  private float[] rows = {};
  private byte[] codes = {};
  private byte[] packed = {};
  private short[] shortCodes = {};
  private int[] words = {};

  /** For the numbers of a grid: (entries, lanes). */
  public float[] values(int count) {
    if (values.length < count) {
      values = new float[count];
    }
    return values;
  }

  /** For codes of 8 bits at the most: (entries, lanes). */
  public byte[] codes(int count) {
    if (codes.length < count) {
      codes = new byte[count];
    }
    return codes;
  }

  /** For a grid's bytes as they lie on a page. */
  byte[] packed(int count) {
    if (packed.length < count) {
      packed = new byte[count];
    }
    return packed;
  }

  /** For a number of every lane. */
  int[] words(int columns) {
    if (words.length < columns) {
      words = new int[columns];
    }
    return words;
  }

  /** For codes of 16 bits: (rows, columns). */
  short[] shortCodes(int count) {
    if (shortCodes.length < count) {
      shortCodes = new short[count];
    }
    return shortCodes;
  }

  /** For the numbers of a grid in the order of wide codes: (rows, columns). */
  float[] rows(int count) {
    if (rows.length < count) {
      rows = new float[count];
    }
    return rows;
  }
}
