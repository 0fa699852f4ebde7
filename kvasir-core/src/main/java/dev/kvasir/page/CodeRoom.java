package dev.kvasir.page;

/**
 * One worker's room for a block of codes while it is packed or expanded. Arrays grow to what the
 * largest block asks for, and hold nothing between two blocks.
 */
public final class CodeRoom {
  private float[] block = {};
  private float[] rows = {};
  private byte[] codes = {};
  private byte[] packed = {};
  private short[] wideCodes = {};

  /** For the numbers of a block: (entries, lanes). */
  public float[] block(int count) {
    if (block.length < count) {
      block = new float[count];
    }
    return block;
  }

  /** For codes of 8 bits at the most: (entries, lanes). */
  public byte[] codes(int count) {
    if (codes.length < count) {
      codes = new byte[count];
    }
    return codes;
  }

  /** For a block's bytes as they lie on a page. */
  byte[] packed(int count) {
    if (packed.length < count) {
      packed = new byte[count];
    }
    return packed;
  }

  /** For codes of 16 bits: (rows, columns). */
  short[] wideCodes(int count) {
    if (wideCodes.length < count) {
      wideCodes = new short[count];
    }
    return wideCodes;
  }

  /** For the numbers of a block in the order of wide codes: (rows, columns). */
  float[] rows(int count) {
    if (rows.length < count) {
      rows = new float[count];
    }
    return rows;
  }
}
