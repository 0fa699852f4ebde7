package dev.kvasir.model;

import dev.kvasir.kernel.GroupedProducts;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;

/** Feed-forward layers over the rows of a step, with their workspace. */
final class FeedForwardPass {
  private final GatedPass gated;
  private final ExpertPass experts; // null if no layer has experts

  FeedForwardPass(
      ModelConfig config, Kernels kernels, WorkerPool workers, GroupedProducts grouped) {
    MatrixProducts products = new MatrixProducts(grouped);
    int width =
        config
            .experts()
            .map(experts -> experts.gatedWidth(config.feedForward()))
            .orElse(config.feedForward());
    this.gated = new GatedPass(width, kernels, workers, products);
    this.experts =
        config
            .experts()
            .map(sizes -> new ExpertPass(config.hidden(), sizes, kernels, workers, grouped, gated))
            .orElse(null);
  }

  /** Ensures capacity for that many rows; contents are lost. */
  void ensureCapacity(int rows) {
    gated.ensureCapacity(rows);
    if (experts != null) {
      experts.ensureCapacity(rows);
    }
  }

  /**
   * @param normed normalized input of the layer // (rows, hidden)
   * @param update output without the bias of the last projection // (rows, hidden)
   */
  void run(FeedForwardWeights layer, float[] normed, int rows, float[] update) {
    switch (layer) {
      case GatedWeights weights -> gated.run(weights, normed, rows, update);
      case UngatedWeights weights -> gated.run(weights, normed, rows, update);
      case NoFeedForward _ -> throw new IllegalStateException("a layer without it was run");
      case ExpertWeights weights -> experts.run(weights, normed, rows, update);
    }
  }
}
