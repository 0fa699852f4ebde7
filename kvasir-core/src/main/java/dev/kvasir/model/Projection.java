package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Matrix;

/**
 * A matrix and a bias.
 *
 * @param bias one value per row; may be empty
 */
public record Projection(Matrix matrix, float[] bias) {
  static final float[] NO_BIAS = {};

  /** Adds the bias to one row of outputs. */
  void addBias(Kernels kernels, float[] out, int at) {
    kernels.rows().add(out, at, bias, 0, bias.length);
  }

  long bytes() {
    return matrix.bytes() + (long) bias.length * Float.BYTES;
  }
}
