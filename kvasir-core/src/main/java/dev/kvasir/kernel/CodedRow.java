package dev.kvasir.kernel;

/**
 * One row of activations as signed bytes, each group of 32 with its own scale, so that products
 * with coded weights are integer products. Room is kept for the form that a vector kernel wants:
 * multipliers already spread over the lanes.
 */
public final class CodedRow {
  /** Columns that share a scale. */
  public static final int GROUP = 32;

  /** Columns that share a sum: the shortest group of weights that has a minimum. */
  public static final int SUM_GROUP = 16;

  /** Below this, 127 divided by a number is near the largest float or infinite. */
  private static final float SMALLEST_CODED = 1e-36f;

  /** 16-bit multipliers a column at the most, for lanes of 256 bits and 8-bit codes. */
  private static final int MOST_SPREAD = 24;

  private static final short[] NOT_SPREAD = {};

  private final byte[] codes;
  private final float[] scales;
  private final float[] sums;
  private short[] spreadForBytes = NOT_SPREAD;
  private short[] spreadForNibbles = NOT_SPREAD;

  public CodedRow(int mostColumns) {
    this.codes = new byte[mostColumns];
    this.scales = new float[Math.ceilDiv(mostColumns, GROUP)];
    this.sums = new float[Math.ceilDiv(mostColumns, SUM_GROUP)];
  }

  /** Codes of -127 to 127. */
  public byte[] codes() {
    return codes;
  }

  /** One scale for every {@link #GROUP} columns. */
  public float[] scales() {
    return scales;
  }

  /**
   * {@code scale * sum of codes} for every {@link #SUM_GROUP} columns: what a minimum multiplies.
   */
  public float[] sums() {
    return sums;
  }

  /** Room for a vector kernel's multipliers, of a size that never changes once asked for. */
  public short[] spread(int codeBits) {
    if (codeBits == 8) {
      if (spreadForBytes == NOT_SPREAD) {
        spreadForBytes = new short[codes.length * MOST_SPREAD];
      }
      return spreadForBytes;
    }
    if (spreadForNibbles == NOT_SPREAD) {
      spreadForNibbles = new short[codes.length * MOST_SPREAD];
    }
    return spreadForNibbles;
  }

  /**
   * Codes {@code columns} activations and their sums. Rounding is to the nearest, and a group of
   * zeros has scale zero; so has one below 1e-36, whose steps no float can divide by.
   */
  public void code(float[] x, int at, int columns) {
    for (int group = 0; group < columns / GROUP; group++) {
      int start = group * GROUP;
      float largest = 0;
      for (int i = 0; i < GROUP; i++) {
        largest = Math.max(largest, Math.abs(x[at + start + i]));
      }
      boolean coded = !(largest < SMALLEST_CODED);
      float scale = coded ? largest / 127 : 0;
      float inverse = coded ? 127 / largest : 0;
      scales[group] = scale;
      for (int half = 0; half < GROUP; half += SUM_GROUP) {
        int sum = 0;
        for (int i = start + half; i < start + half + SUM_GROUP; i++) {
          // Adding 128 first makes the truncation a rounding to the nearest, also below zero.
          int code = (int) (x[at + i] * inverse + 128.5f) - 128;
          codes[i] = (byte) code;
          sum += code;
        }
        sums[(start + half) / SUM_GROUP] = scale * sum;
      }
    }
  }
}
