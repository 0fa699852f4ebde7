package dev.kvasir.page;

/**
 * One worker's room for a grid of codes while it is packed or expanded. Arrays grow to what the
 * largest grid asks for, and hold nothing between two grids.
 */
public final class CodeRoom {
  private float[] grid = {};
  private float[] rows = {};
  private byte[] codes = {};
  private byte[] packed = {};
  private short[] wideCodes = {};
  private int[] words = {};

  /** For the numbers of a grid: (entries, lanes). */
  public float[] grid(int count) {
    if (grid.length < count) {
      grid = new float[count];
    }
    return grid;
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
  int[] words(int lanes) {
    if (words.length < lanes) {
      words = new int[lanes];
    }
    return words;
  }

  /** For codes of 16 bits: (rows, columns). */
  short[] wideCodes(int count) {
    if (wideCodes.length < count) {
      wideCodes = new short[count];
    }
    return wideCodes;
  }

  /** For the numbers of a grid in the order of wide codes: (rows, columns). */
  float[] rows(int count) {
    if (rows.length < count) {
      rows = new float[count];
    }
    return rows;
  }
}
