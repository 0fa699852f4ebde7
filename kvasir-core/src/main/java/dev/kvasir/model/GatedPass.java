package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;

/** Feed-forward parts of one gate over the rows of a step, with the memory that they need. */
final class GatedPass {
  private final int maxWidth;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final MatrixProducts products;

  private float[] gate = {}; // (rows, width)
  private float[] up = {}; // (rows, width)

  private GatedWeights weights;
  private final WorkerPool.ParallelTask activate = this::activate;

  /**
   * @param mostWidth of any part that is run
   */
  GatedPass(int maxWidth, Kernels kernels, WorkerPool workers, MatrixProducts products) {
    this.maxWidth = maxWidth;
    this.kernels = kernels;
    this.workers = workers;
    this.products = products;
  }

  /** Makes room for so many rows; what was there is lost. */
  void ensureCapacity(int rows) {
    gate = new float[rows * maxWidth];
    up = new float[rows * maxWidth];
  }

  /**
   * @param normed what the layer is given // (rows, hidden)
   * @param update what it gives, without the bias of its last product // (rows, hidden)
   */
  void run(GatedWeights gated, float[] normed, int rows, float[] update) {
    weights = gated;
    products.multiply(normed, rows, weights.gate().matrix(), gate, weights.up().matrix(), up);
    workers.run(activate, rows);
    products.multiply(gate, rows, weights.down().matrix(), update);
  }

  private void activate(int row, int worker) {
    weights.activate(kernels, gate, up, row * weights.width());
  }
}
