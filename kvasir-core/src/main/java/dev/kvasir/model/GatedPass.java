package dev.kvasir.model;

import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;

/** Feed-forward parts of one gate over the rows of a step, with the memory that they need. */
final class GatedPass {
  private final int mostWidth;
  private final Kernels kernels;
  private final Crew crew;
  private final MatrixProducts products;

  private float[] gate = {}; // (rows, width)
  private float[] up = {}; // (rows, width)

  private GatedWeights weights;
  private final Crew.Work activate = this::activate;

  /**
   * @param mostWidth of any part that is run
   */
  GatedPass(int mostWidth, Kernels kernels, Crew crew, MatrixProducts products) {
    this.mostWidth = mostWidth;
    this.kernels = kernels;
    this.crew = crew;
    this.products = products;
  }

  /** Makes room for so many rows; what was there is lost. */
  void makeRoom(int rows) {
    gate = new float[rows * mostWidth];
    up = new float[rows * mostWidth];
  }

  /**
   * @param normed what the layer is given // (rows, hidden)
   * @param update what it gives, without the bias of its last product // (rows, hidden)
   */
  void run(GatedWeights gated, float[] normed, int rows, float[] update) {
    weights = gated;
    products.multiply(normed, rows, weights.gate().matrix(), gate, weights.up().matrix(), up);
    crew.run(activate, rows);
    products.multiply(gate, rows, weights.down().matrix(), update);
  }

  private void activate(int row, int worker) {
    weights.open(kernels, gate, up, row * weights.width());
  }
}
