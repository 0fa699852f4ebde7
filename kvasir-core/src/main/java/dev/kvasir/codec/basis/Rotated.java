package dev.kvasir.codec.basis;

import dev.kvasir.page.HeadShape;
import java.util.Arrays;

/**
 * A rotation of each head, as numbers.
 *
 * @param rows (kvHeads, dim, dim), orthogonal: {@code changed = rows . x}
 */
public record Rotated(int dim, float[] rows) implements HeadBasis {
  /** Rotations that calibration finds are orthogonal up to rounding. */
  private static final double MOST_ERROR = 1e-3;

  /** Of the thread that changes vectors, so that none is taken from the heap. */
  private static final ThreadLocal<float[]> ROOM =
      ThreadLocal.withInitial(() -> new float[HeadShape.MOST_CHANNELS]);

  @Override
  public void change(int kvHead, float[] x, int at, int vectors) {
    float[] out = ROOM.get();
    for (int vector = at; vector < at + vectors * dim; vector += dim) {
      for (int i = 0; i < dim; i++) {
        int row = (kvHead * dim + i) * dim;
        float sum = 0;
        for (int j = 0; j < dim; j++) {
          sum += rows[row + j] * x[vector + j];
        }
        out[i] = sum;
      }
      System.arraycopy(out, 0, x, vector, dim);
    }
  }

  @Override
  public void restore(int kvHead, float[] x, int at, int vectors) {
    float[] out = ROOM.get();
    for (int vector = at; vector < at + vectors * dim; vector += dim) {
      Arrays.fill(out, 0, dim, 0);
      for (int i = 0; i < dim; i++) {
        int row = (kvHead * dim + i) * dim;
        float changed = x[vector + i];
        for (int j = 0; j < dim; j++) {
          out[j] += rows[row + j] * changed;
        }
      }
      System.arraycopy(out, 0, x, vector, dim);
    }
  }

  /** Whether every head's rows have length one and no two have anything in common. */
  public boolean isOrthogonal() {
    for (int head = 0; head < rows.length; head += dim * dim) {
      for (int i = 0; i < dim; i++) {
        for (int j = 0; j <= i; j++) {
          double product = i == j ? -1 : 0;
          for (int k = 0; k < dim; k++) {
            product += (double) rows[head + i * dim + k] * rows[head + j * dim + k];
          }
          if (!(Math.abs(product) < MOST_ERROR)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  @Override
  public long bytes() {
    return (long) Float.BYTES * rows.length;
  }

  @Override
  public int fingerprint() {
    return Arrays.hashCode(rows);
  }
}
