package dev.kvasir.model;

import dev.kvasir.codec.HeadShape;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;
import java.util.Optional;

/** Multi-head or grouped-query attention, with its workspace. */
final class MultiHeadPass implements AttentionPass {
  private final ModelConfig config;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final MatrixProducts products;
  private final LayerAttention attention;
  private final StepRows rows;
  private final StepAngles angles;
  private final Optional<OutlierScaling> outliers;
  private final HeadShape[] headsOf; // by layer

  private float[] gatedQueries = {}; // (rows, queryHeads, query and gate); empty without gates
  private float[] queries = {}; // (rows, queryHeads, keyDim)
  private float[] keys = {}; // (rows, kvHeads, keyDim)
  private float[] values = {}; // (rows, kvHeads, valueDim)
  private float[] attentionOutput = {}; // (rows, queryHeads, valueDim)

  private int layer;
  private int cacheLayer; // its index among the layers of the cache
  private HeadShape heads; // of the layer
  private float queryScale;
  private MultiHeadWeights weights;
  private QueryWeights queryWeights;
  private final WorkerPool.ParallelTask rotateAndAppend = this::rotateAndAppend;
  private final WorkerPool.ParallelTask rotateQueries = this::rotateQueries;
  private final WorkerPool.ParallelTask gate = this::gate;
  private final boolean isGated;
  private final boolean scalesByOne; // scores are not divided by the root of the head size

  MultiHeadPass(
      ModelConfig config,
      Kernels kernels,
      WorkerPool workers,
      MatrixProducts products,
      LayerAttention attention,
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
    this.scalesByOne = config.architecture().traits().hasUnscaledScores();
    this.headsOf = new HeadShape[config.layers()];
    Arrays.setAll(headsOf, config::heads);
  }

  @Override
  public void ensureCapacity(int count) {
    int keyWidth = 0;
    int valueWidth = 0;
    for (HeadShape each : headsOf) {
      keyWidth = Math.max(keyWidth, each.kvHeads() * each.keyDim());
      valueWidth = Math.max(valueWidth, each.kvHeads() * each.valueDim());
    }
    int queryWidth = Math.toIntExact(config.widestHeads());
    queries = new float[count * queryWidth];
    gatedQueries = new float[isGated ? 2 * queries.length : 0];
    attentionOutput = new float[count * queryWidth];
    keys = new float[count * keyWidth];
    values = new float[count * valueWidth];
  }

  @Override
  public void run(int layerIndex, LayerWeights layerWeights, float[] normed, float[] update) {
    layer = layerIndex;
    cacheLayer = config.cacheLayer(layer);
    heads = headsOf[layer];
    queryScale = scalesByOne ? (float) Math.sqrt(heads.keyDim()) : config.scales().query();
    if (layerWeights.attention() instanceof QueryWeights shared) {
      attendToEarlier(shared, layerWeights.window(), normed);
    } else {
      attend(layerWeights.multiHead(), layerWeights.window(), normed);
    }
    products.multiply(
        attentionOutput, rows.count(), layerWeights.attention().output().matrix(), update);
  }

  private void attend(MultiHeadWeights own, int window, float[] normed) {
    weights = own;
    products.begin(normed, rows.count(), own.query().matrix().columns());
    products.add(own.query().matrix(), isGated ? gatedQueries : queries);
    products.add(own.key().matrix(), keys);
    if (!own.hasValuesOfKeys()) {
      products.add(own.value().matrix(), values);
    }
    products.run();
    workers.run(rotateAndAppend, rows.count());
    attention.of(layer).attend(cacheLayer, window, own.sinks(), queries, attentionOutput);
    if (isGated) {
      workers.run(gate, rows.count());
    }
  }

  private void attendToEarlier(QueryWeights shared, int window, float[] normed) {
    queryWeights = shared;
    products.multiply(normed, rows.count(), shared.query().matrix(), queries);
    workers.run(rotateQueries, rows.count());
    attention
        .of(layer)
        .attendUnobserved(cacheLayer, window, MultiHeadWeights.NO_SINKS, queries, attentionOutput);
  }

  private void rotateQueries(int row, int worker) {
    int q = row * config.queryHeads() * heads.keyDim();
    queryWeights.query().addBias(kernels, queries, q);
    queryWeights.queryNorm().apply(kernels, queries, q, config.queryHeads(), heads.keyDim());
    rotateAndScaleQueries(row, q);
  }

  private void rotateAndAppend(int row, int worker) {
    int keyDim = heads.keyDim();
    int kvHeads = heads.kvHeads();
    int q = row * config.queryHeads() * keyDim;
    int k = row * kvHeads * keyDim;
    int v = row * kvHeads * heads.valueDim();
    if (isGated) {
      weights.query().addBias(kernels, gatedQueries, 2 * q);
      takeQueries(q);
    } else {
      weights.query().addBias(kernels, queries, q);
    }
    weights.key().addBias(kernels, keys, k);
    if (weights.hasValuesOfKeys()) {
      System.arraycopy(keys, k, values, v, kvHeads * keyDim);
    } else {
      weights.value().addBias(kernels, values, v);
    }
    weights.queryNorm().apply(kernels, queries, q, config.queryHeads(), keyDim);
    weights.keyNorm().apply(kernels, keys, k, kvHeads, keyDim);
    weights.valueNorm().apply(kernels, values, v, kvHeads, heads.valueDim());
    if (outliers.isPresent()) {
      outliers.get().apply(layer, queries, q, keys, k);
    }
    rotateAndScaleQueries(row, q);
    angles.rotate(config.ropes().of(layer), row, keys, k, kvHeads, keyDim);
    rows.appendToCache(cacheLayer, row, keys, k, values, v, queries, q);
  }

  private void rotateAndScaleQueries(int row, int q) {
    int count = config.queryHeads();
    int kind = config.ropes().of(layer);
    angles.rotateQueries(kernels.rows(), kind, row, queries, q, count, heads.keyDim());
    if (queryScale != 1) {
      kernels.rows().scale(queries, q, count * heads.keyDim(), queryScale);
    }
  }

  private void takeQueries(int q) {
    int keyDim = heads.keyDim();
    for (int head = 0; head < config.queryHeads(); head++) {
      int from = 2 * (q + head * keyDim);
      System.arraycopy(gatedQueries, from, queries, q + head * keyDim, keyDim);
    }
  }

  /** Multiplies the outputs of a row with the sigmoids of their gates. */
  private void gate(int row, int worker) {
    int dim = heads.valueDim();
    for (int head = 0; head < config.queryHeads(); head++) {
      int index = row * config.queryHeads() + head;
      int gates = index * 2 * dim + dim;
      for (int i = 0; i < dim; i++) {
        attentionOutput[index * dim + i] *= DeltaNetPass.sigmoid(gatedQueries[gates + i]);
      }
    }
  }
}
