package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;

/** Gated feed-forward layers over the rows of a step, with their workspace. */
final class GatedPass {
  private final int maxWidth;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final MatrixProducts products;

  private float[] gate = {}; // (rows, width)
  private float[] up = {}; // (rows, width)

  private GatedWeights weights;
  private UngatedWeights ungated;
  private final WorkerPool.ParallelTask activate = this::activate;
  private final WorkerPool.ParallelTask activateUngated = this::activateUngated;

  /**
   * @param maxWidth largest feed-forward width
   */
  GatedPass(int maxWidth, Kernels kernels, WorkerPool workers, MatrixProducts products) {
    this.maxWidth = maxWidth;
    this.kernels = kernels;
    this.workers = workers;
    this.products = products;
  }

  /** Ensures capacity for that many rows; contents are lost. */
  void ensureCapacity(int rows) {
    gate = new float[rows * maxWidth];
    up = new float[rows * maxWidth];
  }

  /**
   * @param normed normalized input of the layer // (rows, hidden)
   * @param update output without the bias of the last projection // (rows, hidden)
   */
  void run(GatedWeights gated, float[] normed, int rows, float[] update) {
    weights = gated;
    products.multiply(normed, rows, weights.gate().matrix(), gate, weights.up().matrix(), up);
    workers.run(activate, rows);
    products.multiply(gate, rows, weights.down().matrix(), update);
  }

  /** Runs a layer without gates. */
  void run(UngatedWeights plain, float[] normed, int rows, float[] update) {
    ungated = plain;
    products.multiply(normed, rows, plain.up().matrix(), up);
    workers.run(activateUngated, rows);
    products.multiply(up, rows, plain.down().matrix(), update);
  }

  /** Runs a layer with gates or without. */
  void run(FeedForwardWeights any, float[] normed, int rows, float[] update) {
    switch (any) {
      case GatedWeights gated -> run(gated, normed, rows, update);
      case UngatedWeights plain -> run(plain, normed, rows, update);
      default -> throw new IllegalArgumentException("a feed-forward layer of other parts");
    }
  }

  private void activateUngated(int row, int worker) {
    ungated.activate(kernels, up, row * ungated.width());
  }

  private void activate(int row, int worker) {
    weights.activate(kernels, gate, up, row * weights.width());
  }
}
