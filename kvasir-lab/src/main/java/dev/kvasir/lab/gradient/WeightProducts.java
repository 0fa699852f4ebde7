package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.WorkerPool;
import java.util.stream.IntStream;

/**
 * Products of many rows with a weight matrix and, in the backward pass, with its transpose. Weights
 * are expanded to floats a few rows at a time, so that a large model is never held twice;
 * activations are never quantized.
 *
 * <p>No sum depends on the partition into parts, so results are the same for any number of threads.
 */
final class WeightProducts {
  /** Weight rows that stay in the L1 cache while all activations are processed. */
  private static final int FORWARD_ROWS = 16;

  /** A block of weights in the backward pass: 64 x 128 floats are half of a 64 KB cache. */
  private static final int BACKWARD_ROWS = 64;

  private static final int BACKWARD_COLUMNS = 128;

  private final Kernels kernels;
  private final WorkerPool workers;
  private final float[][] expanded; // by worker: (BACKWARD_ROWS, columns)

  WeightProducts(Kernels kernels, WorkerPool workers, int maxColumns) {
    this.kernels = kernels;
    this.workers = workers;
    this.expanded =
        IntStream.range(0, workers.size())
            .mapToObj(worker -> new float[BACKWARD_ROWS * maxColumns])
            .toArray(float[][]::new);
  }

  /** {@code out (rows, matrix.rows) = x (rows, matrix.columns) . matrix}. */
  void forward(float[] x, int rows, Matrix matrix, float[] out) {
    int columns = matrix.columns();
    workers.run(
        (part, worker) -> {
          int first = part * FORWARD_ROWS;
          int count = Math.min(FORWARD_ROWS, matrix.rows() - first);
          float[] weights = expanded[worker];
          kernels.expand(matrix, first, count, weights, 0);
          kernels
              .floats()
              .products(
                  RowBlock.of(x, rows, columns),
                  RowBlock.of(weights, count, columns),
                  RowBlock.of(out, first, matrix.rows(), rows, count));
        },
        Math.ceilDiv(matrix.rows(), FORWARD_ROWS));
  }

  /** {@code dx (rows, matrix.columns) += dy (rows, matrix.rows) . transposed matrix}. */
  void addBackward(float[] dy, int rows, Matrix matrix, float[] dx) {
    // Every part expands all weights, so there are only a few parts.
    int rowsPerPart = Math.ceilDiv(rows, 2 * workers.size());
    workers.run(
        (part, worker) -> {
          int first = part * rowsPerPart;
          int count = Math.min(rowsPerPart, rows - first);
          for (int row = 0; row < matrix.rows(); row += BACKWARD_ROWS) {
            int depth = Math.min(BACKWARD_ROWS, matrix.rows() - row);
            kernels.expand(matrix, row, depth, expanded[worker], 0);
            addBlock(dy, first, count, matrix, row, depth, expanded[worker], dx);
          }
        },
        Math.ceilDiv(rows, rowsPerPart));
  }

  private void addBlock(
      float[] dy, int first, int count, Matrix matrix, int row, int depth, float[] w, float[] dx) {
    int columns = matrix.columns();
    for (int column = 0; column < columns; column += BACKWARD_COLUMNS) {
      int width = Math.min(BACKWARD_COLUMNS, columns - column);
      kernels
          .floats()
          .weightedSums(
              RowBlock.of(dy, first * matrix.rows() + row, matrix.rows(), count, depth),
              RowBlock.of(w, column, columns, depth, width),
              RowBlock.of(dx, first * columns + column, columns, count, width));
    }
  }
}
