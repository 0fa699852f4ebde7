package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.WorkerPool;
import java.util.stream.IntStream;

/**
 * Products of many rows with a weight matrix and, in the backward pass, with its transpose. Weights
 * are expanded to floats a few rows at a time, so that a large model is never held twice.
 *
 * <p>No sum depends on the partition into parts, so results are the same for any number of threads.
 */
final class WeightProducts {
  /** Weight rows that stay in the L1 cache while all activations are processed. */
  private static final int FORWARD_ROWS = 16;

  /** Weight rows that are expanded together in the backward pass. */
  private static final int PANEL_ROWS = 128;

  /** Columns of a strip of the panel; 128 x 32 floats are half of a 32 KB cache. */
  private static final int STRIP = 32;

  /** Rows of gradients that are multiplied with a strip while it is cached. */
  private static final int ROWS_PER_PART = 128;

  private static final int PARTS_PER_WORKER = 4;

  private final Kernels kernels;
  private final WorkerPool workers;
  private final MatrixProducts rounded; // null if activations stay floats
  private final float[][] expanded; // by worker: (FORWARD_ROWS, columns)
  private final int maxColumns;
  private float[] panel = {}; // (strips, PANEL_ROWS, STRIP)

  WeightProducts(
      Kernels kernels, WorkerPool workers, int maxColumns, ActivationPrecision precision) {
    this.kernels = kernels;
    this.workers = workers;
    this.maxColumns = maxColumns;
    this.rounded =
        precision == ActivationPrecision.BYTES ? new MatrixProducts(kernels, workers) : null;
    this.expanded =
        IntStream.range(0, workers.size())
            .mapToObj(worker -> new float[FORWARD_ROWS * maxColumns])
            .toArray(float[][]::new);
  }

  /** {@code out (rows, matrix.rows) = x (rows, matrix.columns) . matrix}. */
  void forward(float[] x, int rows, Matrix matrix, float[] out) {
    if (rounded != null) {
      rounded.multiply(x, rows, matrix, out);
      return;
    }
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
    if (panel.length == 0) {
      panel = new float[PANEL_ROWS * STRIP * Math.ceilDiv(maxColumns, STRIP)];
    }
    int strips = Math.ceilDiv(matrix.columns(), STRIP);
    int rowParts = Math.ceilDiv(rows, ROWS_PER_PART);
    int wanted = Math.ceilDiv(PARTS_PER_WORKER * workers.size(), rowParts);
    int stripsPerPart = Math.ceilDiv(strips, Math.min(wanted, strips));
    int stripParts = Math.ceilDiv(strips, stripsPerPart);
    for (int first = 0; first < matrix.rows(); first += PANEL_ROWS) {
      int begin = first;
      int depth = Math.min(PANEL_ROWS, matrix.rows() - first);
      workers.run(
          (part, worker) -> expand(matrix, begin, depth, part * FORWARD_ROWS, expanded[worker]),
          Math.ceilDiv(depth, FORWARD_ROWS));
      workers.run(
          (part, worker) -> {
            int row = part / stripParts * ROWS_PER_PART;
            int strip = part % stripParts * stripsPerPart;
            RowBlock weights =
                RowBlock.of(
                    dy,
                    row * matrix.rows() + begin,
                    matrix.rows(),
                    Math.min(ROWS_PER_PART, rows - row),
                    depth);
            addStrips(weights, row, matrix.columns(), strip, strip + stripsPerPart, dx);
          },
          rowParts * stripParts);
    }
  }

  /**
   * Expands some rows of the panel into its strips, which are contiguous: rows a power of two apart
   * would displace each other in the cache.
   */
  private void expand(Matrix matrix, int panelRow, int depth, int from, float[] rows) {
    int count = Math.min(FORWARD_ROWS, depth - from);
    int columns = matrix.columns();
    kernels.expand(matrix, panelRow + from, count, rows, 0);
    for (int row = 0; row < count; row++) {
      for (int column = 0; column < columns; column += STRIP) {
        int to = column * PANEL_ROWS + (from + row) * STRIP;
        System.arraycopy(
            rows, row * columns + column, panel, to, Math.min(STRIP, columns - column));
      }
    }
  }

  private void addStrips(
      RowBlock weights, int firstRow, int columns, int from, int to, float[] dx) {
    for (int column = from * STRIP; column < Math.min(to * STRIP, columns); column += STRIP) {
      int width = Math.min(STRIP, columns - column);
      kernels
          .floats()
          .weightedSums(
              weights,
              RowBlock.of(panel, column * PANEL_ROWS, STRIP, weights.width(), width),
              RowBlock.of(dx, firstRow * columns + column, columns, weights.rows(), width));
    }
  }
}
