package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;

/** Adds an embedding of the token to the output of every layer, with its workspace. */
final class LayerInputPass {
  private final ModelConfig config;
  private final TokenInputWeights tokens;
  private final int channels;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final MatrixProducts products;
  private final StepRows rows;

  private float[] inputs = {}; // (rows, layers, channels)
  private float[] embeddings = {}; // (rows, layers, channels)
  private float[] gates = {}; // (rows, channels)
  private float[] factors = {}; // (rows, channels), the inputs of a layer
  private float[] projected = {}; // (rows, hidden)

  private int layer;
  private LayerInputWeights weights;
  private float[] x; // (rows, hidden)
  private final WorkerPool.ParallelTask combine = this::combine;
  private final WorkerPool.ParallelTask activate = this::activate;
  private final WorkerPool.ParallelTask add = this::add;

  LayerInputPass(
      ModelConfig config,
      TokenInputWeights tokens,
      Kernels kernels,
      WorkerPool workers,
      MatrixProducts products,
      StepRows rows) {
    this.config = config;
    this.tokens = tokens;
    this.channels = config.perLayer().orElseThrow().inputChannels();
    this.kernels = kernels;
    this.workers = workers;
    this.products = products;
    this.rows = rows;
  }

  private int width() {
    return config.layers() * channels;
  }

  /** Ensures capacity for that many rows; contents are lost. */
  void ensureCapacity(int count) {
    inputs = new float[count * width()];
    embeddings = new float[count * width()];
    gates = new float[count * channels];
    factors = new float[count * channels];
    projected = new float[count * config.hidden()];
  }

  /**
   * Computes the inputs of all layers.
   *
   * @param embedded scaled embeddings of the rows // (rows, hidden)
   */
  void begin(float[] embedded) {
    products.multiply(embedded, rows.count(), tokens.projection(), inputs);
    workers.run(combine, rows.count());
  }

  private void combine(int row, int worker) {
    int at = row * width();
    int token = rows.batch().token(row);
    kernels.expand(tokens.embedding(), token, 1, embeddings, at);
    kernels.rows().scale(embeddings, at, width(), (float) Math.sqrt(channels));
    kernels.rows().scale(inputs, at, width(), (float) (1 / Math.sqrt(config.hidden())));
    for (int from = at; from < at + width(); from += channels) {
      float epsilon = config.normEpsilon();
      kernels.rows().rmsNorm(inputs, from, tokens.norm(), epsilon, inputs, from, channels);
    }
    kernels.rows().add(inputs, at, embeddings, at, width());
    kernels.rows().scale(inputs, at, width(), (float) (1 / Math.sqrt(2)));
  }

  /** Moves the inputs of a row to another; rows are moved in ascending order. */
  void move(int from, int to) {
    System.arraycopy(inputs, from * width(), inputs, to * width(), width());
  }

  /**
   * Adds a layer's inputs to its output.
   *
   * @param output (rows, hidden)
   */
  void run(int layerIndex, LayerInputWeights layerWeights, float[] output, int count) {
    layer = layerIndex;
    weights = layerWeights;
    x = output;
    products.multiply(output, count, weights.gate().matrix(), gates);
    workers.run(activate, count);
    products.multiply(gates, count, weights.projection().matrix(), projected);
    workers.run(add, count);
  }

  private void activate(int row, int worker) {
    int at = row * channels;
    System.arraycopy(inputs, row * width() + layer * channels, factors, at, channels);
    Activation.GELU.applyGate(kernels.rows(), gates, factors, at, channels);
  }

  private void add(int row, int worker) {
    int at = row * config.hidden();
    int hidden = config.hidden();
    float epsilon = config.normEpsilon();
    kernels.rows().rmsNorm(projected, at, weights.norm(), epsilon, projected, at, hidden);
    kernels.rows().add(x, at, projected, at, hidden);
  }
}
