package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;

/** Dense feed-forward layers next to mixtures of experts, with their workspace. */
final class DenseAndExpertPass {
  private final int hidden;
  private final float epsilon;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final GatedPass gated;
  private final ExpertPass experts;

  private float[] routed = {}; // (rows, hidden), inputs of the router
  private float[] expertInputs = {}; // (rows, hidden)
  private float[] expertOutputs = {}; // (rows, hidden)

  private DenseAndExpertWeights weights;
  private float[] x; // (rows, hidden)
  private float[] update; // (rows, hidden)
  private final WorkerPool.ParallelTask normalize = this::normalize;
  private final WorkerPool.ParallelTask combine = this::combine;

  DenseAndExpertPass(
      ModelConfig config,
      Kernels kernels,
      WorkerPool workers,
      GatedPass gated,
      ExpertPass experts) {
    this.hidden = config.hidden();
    this.epsilon = config.normEpsilon();
    this.kernels = kernels;
    this.workers = workers;
    this.gated = gated;
    this.experts = experts;
  }

  /** Ensures capacity for that many rows; contents are lost. */
  void ensureCapacity(int rows) {
    routed = new float[rows * hidden];
    expertInputs = new float[rows * hidden];
    expertOutputs = new float[rows * hidden];
  }

  /**
   * @param input input of the layer // (rows, hidden)
   * @param normed the same, normalized for the dense part // (rows, hidden)
   * @param out output // (rows, hidden)
   */
  void run(DenseAndExpertWeights layer, float[] input, float[] normed, int rows, float[] out) {
    weights = layer;
    x = input;
    update = out;
    workers.run(normalize, rows);
    gated.run(weights.dense(), normed, rows, update);
    experts.run(weights.experts(), routed, expertInputs, rows, expertOutputs);
    workers.run(combine, rows);
  }

  private void normalize(int row, int worker) {
    normalize(x, weights.routerNorm(), routed, row);
    normalize(x, weights.expertNorm(), expertInputs, row);
  }

  private void combine(int row, int worker) {
    normalize(update, weights.denseOutNorm(), update, row);
    normalize(expertOutputs, weights.expertOutNorm(), expertOutputs, row);
    kernels.rows().add(update, row * hidden, expertOutputs, row * hidden, hidden);
  }

  private void normalize(float[] from, float[] weight, float[] to, int row) {
    kernels.rows().rmsNorm(from, row * hidden, weight, epsilon, to, row * hidden, hidden);
  }
}
