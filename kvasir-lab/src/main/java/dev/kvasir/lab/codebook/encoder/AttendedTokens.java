package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.lab.codebook.VectorSample;
import java.util.Arrays;

/**
 * Values of tokens, all heads of a token together, and optionally the effect of their errors on
 * attention outputs. With attention weights {@code p}, the error of an output is {@code sum of p_t
 * e_t}, and the squares of all outputs are {@code e^T S e} with {@code S = sum of p p^T} over the
 * queries. S is known within blocks of consecutive tokens.
 *
 * @param x (count, width)
 * @param kvHeads heads that a token's channels are divided into
 * @param moments S of each block and head; empty if unknown // (blocks, kvHeads, BLOCK, BLOCK)
 */
public record AttendedTokens(int width, int kvHeads, float[] x, float[] moments) {
  /** Tokens of a block. */
  static final int BLOCK = 64;

  /**
   * Errors on tokens that were not trained on.
   *
   * @param ofValues squared error relative to the squared values
   * @param ofOutputs squared error of attention outputs relative to their squares; NaN if unknown
   */
  public record RelativeError(double ofValues, double ofOutputs) {}

  /** Returns the values of a layer in a sample, whose attention is unknown. */
  public static AttendedTokens of(VectorSample sample, int layer) {
    return LayerValues.in(sample, layer).tokens();
  }

  /** Returns tokens whose attention is unknown. */
  static AttendedTokens ofValues(int width, float[] x) {
    return new AttendedTokens(width, 1, x, new float[0]);
  }

  public int count() {
    return x.length / width;
  }

  int blocks() {
    return moments.length / (kvHeads * BLOCK * BLOCK);
  }

  /** Returns the mean sizes of channels. // (width) */
  float[] channelScales() {
    double[] sums = new double[width];
    for (int i = 0; i < x.length; i++) {
      sums[i % width] += Math.abs(x[i]);
    }
    float[] means = new float[width];
    for (int i = 0; i < width; i++) {
      means[i] = (float) (sums[i] / count());
    }
    return means;
  }

  /**
   * @param decoded (count, width)
   */
  public RelativeError error(Kernels kernels, float[] decoded) {
    float[] errors = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      errors[i] = decoded[i] - x[i];
    }
    return new RelativeError(
        product(errors, errors) / product(x, x), outputs(kernels, errors) / outputs(kernels, x));
  }

  /** Returns the squares of the values. */
  double values() {
    return product(x, x);
  }

  /** Returns the squares of the attention outputs; zero if attention is unknown. */
  double outputs(Kernels kernels) {
    return outputs(kernels, x);
  }

  private double outputs(Kernels kernels, float[] e) {
    double sum = 0;
    float[] applied = new float[BLOCK * width];
    for (int block = 0; block < blocks(); block++) {
      Arrays.fill(applied, 0);
      addMoments(kernels, block, e, block * BLOCK * width, applied, 0);
      for (int i = 0; i < applied.length; i++) {
        sum += (double) applied[i] * e[block * BLOCK * width + i];
      }
    }
    return sum;
  }

  /**
   * Adds {@code S e} of a block.
   *
   * @param e (BLOCK, width) from {@code from} on
   * @param out (BLOCK, width) from {@code to} on, added to
   */
  void addMoments(Kernels kernels, int block, float[] e, int from, float[] out, int to) {
    int dim = width / kvHeads;
    for (int head = 0; head < kvHeads; head++) {
      int at = (block * kvHeads + head) * BLOCK * BLOCK;
      kernels
          .floats()
          .weightedSums(
              RowBlock.of(moments, at, BLOCK, BLOCK, BLOCK),
              RowBlock.of(e, from + head * dim, width, BLOCK, dim),
              RowBlock.of(out, to + head * dim, width, BLOCK, dim));
    }
  }

  private static double product(float[] a, float[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += (double) a[i] * b[i];
    }
    return sum;
  }
}
