package dev.kvasir.codec.basis;

import java.util.Arrays;

/**
 * A rotation of each head, applied as a product of reflections (Householder, 1958). Reflections
 * work in place, without heap allocation.
 */
public final class HouseholderRotation implements HeadBasis {
  /** Tolerance of {@link #isOrthogonal}: calibrated rotations are orthogonal up to rounding. */
  private static final double MAX_ERROR = 1e-3;

  private final int dim;
  private final float[] rows; // (kvHeads, dim, dim)
  private final float[]
      normals; // (kvHeads, dim, dim), unit normals of the reflections; the i-th is zero before
  // channel i
  private final float[] signs; // (kvHeads, dim)

  /**
   * Creates a rotation.
   *
   * @param rows (kvHeads, dim, dim), orthogonal: {@code transformed = rows . x}
   */
  public HouseholderRotation(int dim, float[] rows) {
    this.dim = dim;
    this.rows = rows;
    this.normals = new float[rows.length];
    this.signs = new float[rows.length / dim];
    for (int head = 0; head < rows.length / (dim * dim); head++) {
      decompose(head);
    }
  }

  /** Factors {@code rows = H_0 H_1 .. H_(dim - 1) signs} by zeroing columns below the diagonal. */
  private void decompose(int head) {
    int first = head * dim * dim;
    double[] a = new double[dim * dim];
    Arrays.setAll(a, i -> rows[first + i]);
    double[] normal = new double[dim];
    double[] products = new double[dim];
    for (int k = 0; k < dim; k++) {
      double square = 0;
      for (int i = k; i < dim; i++) {
        normal[i] = a[i * dim + k];
        square += normal[i] * normal[i];
      }
      double reflected = -Math.copySign(Math.sqrt(square), normal[k]);
      normal[k] -= reflected;
      double length =
          Math.sqrt(
              Math.max(
                  Double.MIN_NORMAL,
                  square - 2 * reflected * a[k * dim + k] + reflected * reflected));
      for (int i = k; i < dim; i++) {
        normal[i] /= length;
        normals[first + k * dim + i] = (float) normal[i];
      }
      Arrays.fill(products, 0);
      for (int i = k; i < dim; i++) { // by rows, which lie together
        for (int j = k; j < dim; j++) {
          products[j] += normal[i] * a[i * dim + j];
        }
      }
      for (int i = k; i < dim; i++) {
        for (int j = k; j < dim; j++) {
          a[i * dim + j] -= 2 * products[j] * normal[i];
        }
      }
      signs[head * dim + k] = reflected < 0 ? -1 : 1;
    }
  }

  /** Returns the channels of a head. */
  public int dim() {
    return dim;
  }

  /** Returns the matrices (kvHeads, dim, dim). */
  public float[] rows() {
    return rows;
  }

  @Override
  public void transform(int kvHead, float[] x, int at, int vectors) {
    for (int vector = at; vector < at + vectors * dim; vector += dim) {
      flipSigns(kvHead, x, vector);
      for (int k = dim - 1; k >= 0; k--) {
        reflect(kvHead, k, x, vector);
      }
    }
  }

  @Override
  public void invert(int kvHead, float[] x, int at, int vectors) {
    for (int vector = at; vector < at + vectors * dim; vector += dim) {
      for (int k = 0; k < dim; k++) {
        reflect(kvHead, k, x, vector);
      }
      flipSigns(kvHead, x, vector);
    }
  }

  private void flipSigns(int kvHead, float[] x, int at) {
    for (int i = 0; i < dim; i++) {
      x[at + i] *= signs[kvHead * dim + i];
    }
  }

  private void reflect(int kvHead, int k, float[] x, int at) {
    int normal = (kvHead * dim + k) * dim;
    float product = 0;
    for (int i = k; i < dim; i++) {
      product += normals[normal + i] * x[at + i];
    }
    for (int i = k; i < dim; i++) {
      x[at + i] -= 2 * product * normals[normal + i];
    }
  }

  /** Returns whether the rows of every head are orthonormal. */
  public boolean isOrthogonal() {
    for (int head = 0; head < rows.length; head += dim * dim) {
      for (int i = 0; i < dim; i++) {
        for (int j = 0; j <= i; j++) {
          double product = i == j ? -1 : 0;
          for (int k = 0; k < dim; k++) {
            product += (double) rows[head + i * dim + k] * rows[head + j * dim + k];
          }
          if (!(Math.abs(product) < MAX_ERROR)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  @Override
  public long bytes() {
    return (long) Float.BYTES * (normals.length + signs.length);
  }

  @Override
  public int fingerprint() {
    return Arrays.hashCode(rows);
  }
}
