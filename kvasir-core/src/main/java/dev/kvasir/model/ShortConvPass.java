package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;

/** Gated short convolutions over the rows of a step, with their workspace. */
final class ShortConvPass implements AttentionPass {
  private final RecurrentConfig config;
  private final int hidden;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final MatrixProducts products;
  private final StepRows rows;
  private final CausalConvolution convolution;

  private float[] projected = {}; // (rows, 3, hidden): gates before and after, values
  private float[] gated = {}; // (rows, hidden)
  private float[] output = {}; // (rows, hidden)

  private ShortConvWeights weights;
  private final WorkerPool.ParallelTask gate = this::gate;
  private final WorkerPool.ParallelTask convolve = this::convolve;

  ShortConvPass(
      RecurrentConfig config,
      ShortConvConfig sizes,
      Kernels kernels,
      WorkerPool workers,
      MatrixProducts products,
      StepRows rows) {
    this.config = config;
    this.hidden = sizes.channels();
    this.kernels = kernels;
    this.workers = workers;
    this.products = products;
    this.rows = rows;
    this.convolution = new CausalConvolution(kernels.recurrences(), rows, sizes.taps(), hidden);
  }

  @Override
  public void ensureCapacity(int count) {
    projected = new float[count * 3 * hidden];
    gated = new float[count * hidden];
    output = new float[count * hidden];
  }

  @Override
  public void run(int layer, LayerWeights layerWeights, float[] normed, float[] update) {
    weights = (ShortConvWeights) layerWeights.attention();
    products.multiply(normed, rows.count(), weights.input().matrix(), projected);
    workers.run(gate, rows.count());
    convolution.begin(config.countBefore(layer), gated);
    workers.run(convolve, rows.count());
    convolution.end();
    products.multiply(output, rows.count(), weights.output().matrix(), update);
  }

  private void gate(int row, int worker) {
    int at = row * 3 * hidden;
    weights.input().addBias(kernels, projected, at);
    kernels.rows().multiply(projected, at, projected, at + 2 * hidden, gated, row * hidden, hidden);
  }

  private void convolve(int row, int worker) {
    int at = row * hidden;
    convolution.run(row, weights.kernel(), output, at);
    kernels.rows().multiply(output, at, projected, row * 3 * hidden + hidden, output, at, hidden);
  }
}
