package dev.kvasir.simd;

import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * A thread's room for a tile of weighted sums over numbers of 16 bits: four rows of weights, or
 * one, by four vectors, those of even lanes beside those of odd ones.
 */
final class SumTile {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final int VECTOR = FLOATS.length();
  private static final int ROWS = 4;

  /** Lanes of a tile: two vectors of even ones and two of odd ones. */
  static final int LANES = 4 * VECTOR;

  private static final ThreadLocal<SumTile> TILE = ThreadLocal.withInitial(() -> new SumTile(0));

  final float[] weights; // (ROWS, entries)
  final float[] sums = new float[ROWS * LANES];

  private SumTile(int entries) {
    this.weights = new float[ROWS * entries];
  }

  static SumTile ofThread(int entries) {
    SumTile tile = TILE.get();
    if (tile.weights.length < ROWS * entries) {
      tile = new SumTile(entries);
      TILE.set(tile);
    }
    return tile;
  }

  /** Rows of the next tile, where so many are left. */
  static int rows(int left) {
    return Math.min(ROWS, left);
  }

  /** Takes rows of weights, times a factor; two or three are filled up with zeros. */
  void arrange(float[] from, int at, int stride, int count, int entries, float factor) {
    for (int row = 0; row < count; row++) {
      int source = at + row * stride;
      int to = row * entries;
      int e = 0;
      for (; e <= entries - VECTOR; e += VECTOR) {
        FloatVector.fromArray(FLOATS, from, source + e).mul(factor).intoArray(weights, to + e);
      }
      for (; e < entries; e++) {
        weights[to + e] = from[source + e] * factor;
      }
    }
    if (count > 1) {
      Arrays.fill(weights, count * entries, ROWS * entries, 0);
    }
  }

  /** Adds the sums, putting even and odd lanes back in their places. */
  void addInOrder(int count, float[] out, int outAt, int outStride) {
    for (int row = 0; row < count; row++) {
      for (int half = 0; half < 2; half++) {
        int from = (ROWS * row + 2 * half) * VECTOR;
        int to = outAt + row * outStride + half * 2 * VECTOR;
        for (int i = 0; i < VECTOR; i++) {
          out[to + 2 * i] += sums[from + i];
          out[to + 2 * i + 1] += sums[from + VECTOR + i];
        }
      }
    }
  }
}
