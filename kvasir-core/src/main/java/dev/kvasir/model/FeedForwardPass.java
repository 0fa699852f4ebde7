package dev.kvasir.model;

import dev.kvasir.kernel.GroupedProducts;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;

/** Feed-forward layers over the rows of a step, with their workspace. */
final class FeedForwardPass {
  private final GatedPass gated;
  private final ExpertPass experts; // null if no layer has experts
  private final DenseAndExpertPass both; // null likewise

  FeedForwardPass(
      ModelConfig config, Kernels kernels, WorkerPool workers, GroupedProducts grouped) {
    MatrixProducts products = new MatrixProducts(grouped);
    int width =
        config
            .experts()
            .filter(_ -> !config.architecture().traits().hasDenseBesideExperts())
            .map(experts -> experts.gatedWidth(config.feedForward()))
            .orElse(config.feedForward());
    this.gated = new GatedPass(width, kernels, workers, products);
    this.experts =
        config
            .experts()
            .map(sizes -> new ExpertPass(config.hidden(), sizes, kernels, workers, grouped, gated))
            .orElse(null);
    this.both =
        config.architecture().traits().hasDenseBesideExperts() && experts != null
            ? new DenseAndExpertPass(config, kernels, workers, gated, experts)
            : null;
  }

  /** Ensures capacity for that many rows; contents are lost. */
  void ensureCapacity(int rows) {
    gated.ensureCapacity(rows);
    if (experts != null) {
      experts.ensureCapacity(rows);
    }
    if (both != null) {
      both.ensureCapacity(rows);
    }
  }

  /**
   * @param x input of the layer // (rows, hidden)
   * @param normed normalized input of the layer // (rows, hidden)
   * @param update output without the bias of the last projection // (rows, hidden)
   */
  void run(FeedForwardWeights layer, float[] x, float[] normed, int rows, float[] update) {
    switch (layer) {
      case GatedWeights weights -> gated.run(weights, normed, rows, update);
      case UngatedWeights weights -> gated.run(weights, normed, rows, update);
      case NoFeedForward _ -> throw new IllegalStateException("a layer without it was run");
      case ExpertWeights weights -> experts.run(weights, normed, normed, rows, update);
      case DenseAndExpertWeights weights -> both.run(weights, x, normed, rows, update);
    }
  }
}
