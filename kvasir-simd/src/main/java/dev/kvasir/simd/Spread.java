package dev.kvasir.simd;

import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRows;
import jdk.incubator.vector.ShortVector;

/**
 * The multipliers of an activation row, spread over 16-bit lanes in the order in which the tile
 * kernels read them. Spreading them once a row costs less than broadcasting them in every tile.
 *
 * <pre>
 * 8 bits, for each pair of columns:  a0 | a1 - 256 a0 | 32768 - 128 a0
 * 4 bits, for each quad of columns:  a0 | a1 - 16 a0 | a2 - 16 a1 | a3 - 16 a2
 * </pre>
 *
 * The third of a pair undoes the 128 that the even code carries, and lifts the sum of two products
 * (at most 2 * 127 * 127 either way) above zero, so that the halves of a 32-bit lane can be summed
 * apart without signs.
 */
final class Spread {
  private Spread() {}

  /** Lays down the multipliers of a row from {@code at} on. */
  static void over(
      boolean wideLanes, CodedRows rows, int row, int codeBits, short[] spread, int at) {
    int from = rows.codesAt(row);
    if (codeBits == 8) {
      pairs(rows.codes(), from, rows.columns(), spread, at, wideLanes);
    } else {
      quads(rows.codes(), from, rows.columns(), spread, at, wideLanes);
    }
  }

  private static void pairs(
      byte[] codes, int from, int columns, short[] spread, int to, boolean wide) {
    int lanes = lanes(wide);
    int at = to;
    for (int column = from; column < from + columns; column += 2) {
      int a0 = codes[column];
      int a1 = codes[column + 1];
      fill(spread, at, wide, a0);
      fill(spread, at + lanes, wide, a1 - 256 * a0);
      fill(spread, at + 2 * lanes, wide, 32768 - 128 * a0);
      at += 3 * lanes;
    }
  }

  private static void quads(
      byte[] codes, int from, int columns, short[] spread, int to, boolean wide) {
    int at = to;
    for (int column = from; column < from + columns; column += 4) {
      int below = 0;
      for (int i = 0; i < 4; i++) {
        int a = codes[column + i];
        fill(spread, at, wide, a - 16 * below);
        below = a;
        at += lanes(wide);
      }
    }
  }

  private static int lanes(boolean wide) {
    return wide ? 16 : 8;
  }

  /** Writes one multiplier to all lanes. */
  private static void fill(short[] spread, int at, boolean wide, int value) {
    if (wide) {
      ShortVector.broadcast(ShortVector.SPECIES_256, (short) value).intoArray(spread, at);
    } else {
      ShortVector.broadcast(ShortVector.SPECIES_128, (short) value).intoArray(spread, at);
    }
  }

  /** Puts a tile's sums, which lie as rows 0 2 4 .. 14 1 3 5 .. 15, in the order of the rows. */
  static void sortRows(float[] out, int at) {
    int half = CodedMatrix.TILE_ROWS / 2;
    float r1 = out[at + half];
    float r2 = out[at + 1];
    float r3 = out[at + half + 1];
    float r4 = out[at + 2];
    float r5 = out[at + half + 2];
    float r6 = out[at + 3];
    float r7 = out[at + half + 3];
    float r8 = out[at + 4];
    float r9 = out[at + half + 4];
    float r10 = out[at + 5];
    float r11 = out[at + half + 5];
    float r12 = out[at + 6];
    float r13 = out[at + half + 6];
    float r14 = out[at + 7];
    out[at + 1] = r1;
    out[at + 2] = r2;
    out[at + 3] = r3;
    out[at + 4] = r4;
    out[at + 5] = r5;
    out[at + 6] = r6;
    out[at + 7] = r7;
    out[at + 8] = r8;
    out[at + 9] = r9;
    out[at + 10] = r10;
    out[at + 11] = r11;
    out[at + 12] = r12;
    out[at + 13] = r13;
    out[at + 14] = r14;
  }
}
