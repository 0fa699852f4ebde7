package dev.kvasir.model;

import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;

/** Feed-forward parts of a layer over the rows of a step, with the memory that they need. */
final class FeedForwardPass {
  private final ModelConfig config;
  private final Kernels kernels;
  private final Crew crew;
  private final MatrixProducts products;

  private float[] gate = {}; // (rows, feedForward)
  private float[] up = {}; // (rows, feedForward)

  private GatedWeights weights;
  private final Crew.Work activate = this::activate;

  FeedForwardPass(ModelConfig config, Kernels kernels, Crew crew, MatrixProducts products) {
    this.config = config;
    this.kernels = kernels;
    this.crew = crew;
    this.products = products;
  }

  /** Makes room for so many rows; what was there is lost. */
  void makeRoom(int rows) {
    gate = new float[rows * config.feedForward()];
    up = new float[rows * config.feedForward()];
  }

  /**
   * @param normed what the layer is given // (rows, hidden)
   * @param update what it gives, without the bias of its last product // (rows, hidden)
   */
  void run(FeedForwardWeights layer, float[] normed, int rows, float[] update) {
    switch (layer) {
      case GatedWeights gated -> run(gated, normed, rows, update);
    }
  }

  private void run(GatedWeights gated, float[] normed, int rows, float[] update) {
    weights = gated;
    products.multiply(normed, rows, weights.gate().matrix(), gate, weights.up().matrix(), up);
    crew.run(activate, rows);
    products.multiply(gate, rows, weights.down().matrix(), update);
  }

  private void activate(int row, int worker) {
    int at = row * config.feedForward();
    weights.gate().addBias(kernels, gate, at);
    weights.up().addBias(kernels, up, at);
    weights.activation().open(kernels.rows(), gate, up, at, config.feedForward());
  }
}
