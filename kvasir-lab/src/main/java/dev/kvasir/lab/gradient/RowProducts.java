package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.Projection;

/** Projections of many rows, and what else is done row by row. */
record RowProducts(WeightProducts products, Kernels kernels, WorkerPool workers) {
  /** {@code to (rows, outputs) = from (rows, inputs) . matrix + bias}. */
  void project(float[] from, int rows, Projection projection, float[] to) {
    products.forward(from, rows, projection.matrix(), to);
    float[] bias = projection.bias();
    if (bias.length > 0) {
      int stride = projection.matrix().rows();
      workers.run((row, worker) -> kernels.rows().add(to, row * stride, bias, 0, stride), rows);
    }
  }

  /** Adds the gradients of a projection's input. */
  void addBackward(float[] dTo, int rows, Projection projection, float[] dFrom) {
    products.addBackward(dTo, rows, projection.matrix(), dFrom);
  }

  /** {@code to += from}, for rows of {@code width}. */
  void add(float[] to, float[] from, int rows, int width) {
    workers.run(
        (row, worker) -> kernels.rows().add(to, row * width, from, row * width, width), rows);
  }

  /** {@code x *= factor}, for rows of {@code width}. */
  void scale(float[] x, int rows, int width, float factor) {
    if (factor != 1) {
      workers.run((row, worker) -> kernels.rows().scale(x, row * width, width, factor), rows);
    }
  }

  /** {@code to = rms norm of from}; a copy if there is no norm. */
  void normalize(float[] from, float[] weight, float epsilon, int rows, float[] to) {
    if (weight.length == 0) {
      System.arraycopy(from, 0, to, 0, to.length);
      return;
    }
    int width = weight.length;
    workers.run(
        (row, worker) ->
            kernels.rows().rmsNorm(from, row * width, weight, epsilon, to, row * width, width),
        rows);
  }

  /**
   * Adds the gradients of a norm's input.
   *
   * @param from input of the norm
   */
  void addBackwardOfNorm(
      float[] from, float[] weight, float epsilon, int rows, float[] dNormed, float[] dFrom) {
    if (weight.length == 0) {
      add(dFrom, dNormed, rows, dFrom.length / rows);
      return;
    }
    int width = weight.length;
    workers.run(
        (row, worker) -> {
          int at = row * width;
          RmsNorms.addBackward(from, at, weight, epsilon, dNormed, at, dFrom, at);
        },
        rows);
  }
}
