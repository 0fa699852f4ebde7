package dev.kvasir.model;

import dev.kvasir.kernel.HeadProducts;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;

/**
 * Multi-head latent attention, with its workspace. All query heads attend to one key per token,
 * {@code [latent | rotary channels]}, whose latent is also the value.
 */
final class LatentPass implements AttentionPass {
  private final ModelConfig config;
  private final LatentConfig sizes;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final MatrixProducts products;
  private final HeadProducts headProducts;
  private final LayerAttention attention;
  private final StepRows rows;
  private final StepAngles angles;

  private float[] queryLatents = {}; // (rows, queryRank)
  private float[] heads = {}; // (rows, queryHeads, nonRotary + rotary)
  private float[] queries = {}; // (rows, queryHeads, rank + rotary)
  private float[] keys = {}; // (rows, rank + rotary)
  private float[] attentionOutput = {}; // (rows, queryHeads, rank)
  private float[] outputs = {}; // (rows, queryHeads, output)

  private int layer;
  private LatentWeights weights;
  private final WorkerPool.ParallelTask normalizeQueries = this::normalizeQueries;
  private final WorkerPool.ParallelTask normalizeAndRotate = this::normalizeAndRotate;
  private final WorkerPool.ParallelTask appendToCache = this::appendToCache;

  LatentPass(
      ModelConfig config,
      Kernels kernels,
      WorkerPool workers,
      MatrixProducts products,
      LayerAttention attention,
      StepRows rows,
      StepAngles angles) {
    this.config = config;
    this.sizes = config.latent().orElseThrow();
    this.kernels = kernels;
    this.workers = workers;
    this.products = products;
    this.headProducts = new HeadProducts(kernels, workers);
    this.attention = attention;
    this.rows = rows;
    this.angles = angles;
  }

  @Override
  public void ensureCapacity(int count) {
    int queryHeads = config.queryHeads();
    queryLatents = new float[count * sizes.queryRank()];
    heads = new float[count * queryHeads * sizes.headDim()];
    queries = new float[count * queryHeads * sizes.keyDim()];
    keys = new float[count * sizes.keyDim()];
    attentionOutput = new float[count * queryHeads * sizes.rank()];
    outputs = new float[count * queryHeads * sizes.output()];
  }

  @Override
  public void run(int layerIndex, LayerWeights layerWeights, float[] normed, float[] update) {
    layer = layerIndex;
    weights = layerWeights.latent();
    int count = rows.count();
    project(normed, count);
    workers.run(normalizeAndRotate, count);
    headProducts.multiply(
        weights.toLatent(), count, heads, sizes.headDim(), queries, sizes.keyDim());
    workers.run(appendToCache, count);
    attention
        .of(layer)
        .attend(layer, layerWeights.window(), MultiHeadWeights.NO_SINKS, queries, attentionOutput);
    headProducts.multiply(
        weights.fromLatent(), count, attentionOutput, sizes.rank(), outputs, sizes.output());
    products.multiply(outputs, count, weights.output().matrix(), update);
  }

  private void project(float[] normed, int count) {
    if (weights.queryLatent().isEmpty()) {
      products.multiply(
          normed, count, weights.query().matrix(), heads, weights.keyValue().matrix(), keys);
      return;
    }
    LatentWeights.QueryLatent latent = weights.queryLatent().get();
    products.multiply(
        normed, count, latent.down().matrix(), queryLatents, weights.keyValue().matrix(), keys);
    workers.run(normalizeQueries, count);
    products.multiply(queryLatents, count, weights.query().matrix(), heads);
  }

  private void normalizeQueries(int row, int worker) {
    LatentWeights.QueryLatent latent = weights.queryLatent().orElseThrow();
    int at = row * sizes.queryRank();
    latent.down().addBias(kernels, queryLatents, at);
    normalize(latent.norm(), queryLatents, at);
  }

  private void normalize(float[] norm, float[] x, int at) {
    kernels.rows().rmsNorm(x, at, norm, sizes.normEpsilon(), x, at, norm.length);
  }

  private void normalizeAndRotate(int row, int worker) {
    int queryHeads = config.queryHeads();
    int h = row * queryHeads * sizes.headDim();
    int q = row * queryHeads * sizes.keyDim();
    int k = row * sizes.keyDim();
    weights.query().addBias(kernels, heads, h);
    weights.keyValue().addBias(kernels, keys, k);
    normalize(weights.latentNorm(), keys, k);
    if (config.scales().query() != 1) {
      kernels.rows().scale(heads, h, queryHeads * sizes.headDim(), config.scales().query());
    }
    for (int head = 0; head < queryHeads; head++) {
      int from = h + head * sizes.headDim() + sizes.nonRotary();
      int to = q + head * sizes.keyDim() + sizes.rank();
      System.arraycopy(heads, from, queries, to, sizes.rotary());
    }
    // Rotary channels follow the latent, so heads start that much later.
    int kind = config.ropes().of(layer);
    int rotaryAt = q + sizes.rank();
    angles.rotateQueries(kernels.rows(), kind, row, queries, rotaryAt, queryHeads, sizes.keyDim());
    angles.rotate(kind, row, keys, k + sizes.rank(), 1, sizes.keyDim());
  }

  private void appendToCache(int row, int worker) {
    int k = row * sizes.keyDim();
    int q = row * config.queryHeads() * sizes.keyDim();
    rows.appendToCache(layer, row, keys, k, keys, k, queries, q);
  }
}
