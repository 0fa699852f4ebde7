package dev.kvasir.model;

import dev.kvasir.attention.Attention;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;
import java.util.Optional;

/** Multi-head or grouped-query attention, with its workspace. */
final class MultiHeadPass implements AttentionPass {
  private final ModelConfig config;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final MatrixProducts products;
  private final Attention attention;
  private final StepRows rows;
  private final StepAngles angles;
  private final Optional<OutlierScaling> outliers;

  private float[] gatedQueries = {}; // (rows, queryHeads, query and gate); empty without gates
  private float[] queries = {}; // (rows, queryHeads, keyDim)
  private float[] keys = {}; // (rows, kvHeads, keyDim)
  private float[] values = {}; // (rows, kvHeads, valueDim)
  private float[] attentionOutput = {}; // (rows, queryHeads, valueDim)

  private int layer;
  private int cacheLayer; // its index among the layers with attention
  private MultiHeadWeights weights;
  private final WorkerPool.ParallelTask rotateAndAppend = this::rotateAndAppend;
  private final WorkerPool.ParallelTask gate = this::gate;
  private final boolean isGated;

  MultiHeadPass(
      ModelConfig config,
      Kernels kernels,
      WorkerPool workers,
      MatrixProducts products,
      Attention attention,
      StepRows rows,
      StepAngles angles,
      Optional<OutlierScaling> outliers) {
    this.config = config;
    this.kernels = kernels;
    this.workers = workers;
    this.products = products;
    this.attention = attention;
    this.rows = rows;
    this.angles = angles;
    this.outliers = outliers;
    this.isGated = config.architecture().traits().hasGatedQueries();
  }

  @Override
  public void ensureCapacity(int count) {
    queries = new float[count * config.queryHeads() * config.keyDim()];
    gatedQueries = new float[isGated ? 2 * queries.length : 0];
    attentionOutput = new float[count * config.queryHeads() * config.valueDim()];
    keys = new float[count * config.kvHeads() * config.keyDim()];
    values = new float[count * config.kvHeads() * config.valueDim()];
  }

  @Override
  public void run(int layerIndex, LayerWeights layerWeights, float[] normed, float[] update) {
    layer = layerIndex;
    cacheLayer = config.cacheLayer(layer);
    weights = layerWeights.multiHead();
    products.begin(normed, rows.count(), weights.query().matrix().columns());
    products.add(weights.query().matrix(), isGated ? gatedQueries : queries);
    products.add(weights.key().matrix(), keys);
    products.add(weights.value().matrix(), values);
    products.run();
    workers.run(rotateAndAppend, rows.count());
    attention.attend(cacheLayer, layerWeights.window(), weights.sinks(), queries, attentionOutput);
    if (isGated) {
      workers.run(gate, rows.count());
    }
    products.multiply(attentionOutput, rows.count(), weights.output().matrix(), update);
  }

  private void rotateAndAppend(int row, int worker) {
    int keyDim = config.keyDim();
    int queryHeads = config.queryHeads();
    int kvHeads = config.kvHeads();
    int q = row * queryHeads * keyDim;
    int k = row * kvHeads * keyDim;
    int v = row * kvHeads * config.valueDim();
    if (isGated) {
      weights.query().addBias(kernels, gatedQueries, 2 * q);
      takeQueries(q);
    } else {
      weights.query().addBias(kernels, queries, q);
    }
    weights.key().addBias(kernels, keys, k);
    weights.value().addBias(kernels, values, v);
    weights.queryNorm().apply(kernels, queries, q, queryHeads, keyDim);
    weights.keyNorm().apply(kernels, keys, k, kvHeads, keyDim);
    if (outliers.isPresent()) {
      outliers.get().apply(layer, queries, q, keys, k);
    }
    int kind = config.ropes().of(layer);
    angles.rotateQueries(kernels.rows(), kind, row, queries, q, queryHeads, keyDim);
    angles.rotate(kind, row, keys, k, kvHeads, keyDim);
    if (config.scales().query() != 1) {
      kernels.rows().scale(queries, q, queryHeads * keyDim, config.scales().query());
    }
    rows.appendToCache(cacheLayer, row, keys, k, values, v, queries, q);
  }

  private void takeQueries(int q) {
    int keyDim = config.keyDim();
    for (int head = 0; head < config.queryHeads(); head++) {
      int from = 2 * (q + head * keyDim);
      System.arraycopy(gatedQueries, from, queries, q + head * keyDim, keyDim);
    }
  }

  /** Multiplies the outputs of a row with the sigmoids of their gates. */
  private void gate(int row, int worker) {
    int dim = config.valueDim();
    for (int head = 0; head < config.queryHeads(); head++) {
      int index = row * config.queryHeads() + head;
      int gates = index * 2 * dim + dim;
      for (int i = 0; i < dim; i++) {
        attentionOutput[index * dim + i] *= DeltaNetPass.sigmoid(gatedQueries[gates + i]);
      }
    }
  }
}
