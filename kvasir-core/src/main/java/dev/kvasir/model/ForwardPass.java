package dev.kvasir.model;

import dev.kvasir.attention.Attention;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import java.util.Arrays;

/**
 * One step of the decoder over the rows of a batch, with the memory that it needs. Row-wise work is
 * prepared once as {@link Crew.Work}, so that a step allocates nothing.
 */
final class ForwardPass {
  private final ModelConfig config;
  private final Weights weights;
  private final Rope rope;
  private final Kernels kernels;
  private final Crew crew;
  private final MatrixProducts products;
  private final Attention attention;

  private float[] x = {}; // (rows, hidden), the residual stream
  private float[] normed = {}; // (rows, hidden)
  private float[] queries = {}; // (rows, queryHeads, keyDim)
  private float[] keys = {}; // (rows, kvHeads, keyDim)
  private float[] values = {}; // (rows, kvHeads, valueDim)
  private float[] mixed = {}; // (rows, queryHeads, valueDim)
  private float[] gate = {}; // (rows, feedForward)
  private float[] up = {}; // (rows, feedForward)
  private float[] update = {}; // (rows, hidden)
  private float[] cosines = {}; // (rows, pairs)
  private float[] sines = {}; // (rows, pairs)
  private int[] sequenceOfRow = {};
  private int room;

  private Batch batch;
  private int layerIndex;
  private LayerWeights layer;

  private final Crew.Work embed = this::embed;
  private final Crew.Work normalizeForAttention = this::normalizeForAttention;
  private final Crew.Work rotateAndRemember = this::rotateAndRemember;
  private final Crew.Work addAndNormalize = this::addAndNormalize;
  private final Crew.Work activate = this::activate;
  private final Crew.Work addFeedForward = this::addFeedForward;

  ForwardPass(ModelConfig config, Weights weights, Rope rope, Kernels kernels, Crew crew) {
    this.config = config;
    this.weights = weights;
    this.rope = rope;
    this.kernels = kernels;
    this.crew = crew;
    this.products = new MatrixProducts(kernels, crew);
    this.attention = new Attention(config.attentionShape(), kernels, crew);
  }

  void run(Batch step) {
    begin(step);
    int rows = batch.rows();
    crew.run(embed, rows);
    for (layerIndex = 0; layerIndex < config.layers(); layerIndex++) {
      layer = weights.layers().get(layerIndex);
      crew.run(normalizeForAttention, rows);
      products.multiply(
          normed,
          rows,
          layer.query().matrix(),
          queries,
          layer.key().matrix(),
          keys,
          layer.value().matrix(),
          values);
      crew.run(rotateAndRemember, rows);
      attention.attend(layerIndex, layer.window(), queries, mixed);
      products.multiply(mixed, rows, layer.output().matrix(), update);
      crew.run(addAndNormalize, rows);
      products.multiply(normed, rows, layer.gate().matrix(), gate, layer.up().matrix(), up);
      crew.run(activate, rows);
      products.multiply(gate, rows, layer.down().matrix(), update);
      crew.run(addFeedForward, rows);
    }
    computeLogits();
    end();
  }

  private void begin(Batch step) {
    batch = step;
    makeRoom(batch.rows());
    attention.begin();
    for (int s = 0; s < batch.sequences(); s++) {
      int first = batch.firstRow(s);
      int count = batch.endRow(s) - first;
      int stepBegin = batch.stepBegin(s);
      int stepEnd = batch.stepEnd(s);
      Arrays.fill(sequenceOfRow, first, first + count, s);
      if (admit(s, stepEnd)) {
        KvCache cache = batch.cache(s);
        attention.add(cache, first, count, batch.position(first), stepBegin, stepEnd);
      }
    }
  }

  /** A sequence that has no room keeps its rows to itself: the others go on without it. */
  private boolean admit(int sequence, int length) {
    try {
      batch.cache(sequence).reserve(length);
      tellTokens(sequence);
      return true;
    } catch (RuntimeException e) {
      batch.fail(sequence, e);
      return false;
    }
  }

  private void tellTokens(int sequence) {
    KvCache cache = batch.cache(sequence);
    if (cache.seesTokens()) {
      for (int row = batch.firstRow(sequence); row < batch.endRow(sequence); row++) {
        cache.see(batch.position(row), batch.token(row));
      }
    }
  }

  /**
   * Positions count only now that every layer holds them: a failed step leaves caches as before.
   */
  private void end() {
    for (int s = 0; s < batch.sequences(); s++) {
      if (!batch.hasFailed(s)) {
        batch.cache(s).count(batch.endRow(s) - batch.firstRow(s));
      }
    }
    attention.begin();
    batch = null;
  }

  private void makeRoom(int rows) {
    if (rows <= room) {
      return;
    }
    x = new float[rows * config.hidden()];
    normed = new float[rows * config.hidden()];
    update = new float[rows * config.hidden()];
    queries = new float[rows * config.queryHeads() * config.keyDim()];
    mixed = new float[rows * config.queryHeads() * config.valueDim()];
    keys = new float[rows * config.kvHeads() * config.keyDim()];
    values = new float[rows * config.kvHeads() * config.valueDim()];
    gate = new float[rows * config.feedForward()];
    up = new float[rows * config.feedForward()];
    cosines = new float[rows * rope.pairs()];
    sines = new float[rows * rope.pairs()];
    sequenceOfRow = new int[rows];
    room = rows;
  }

  private void embed(int row, int worker) {
    kernels.expand(weights.embedding(), batch.token(row), 1, x, row * config.hidden());
    rope.angles(batch.position(row), cosines, sines, row * rope.pairs());
  }

  private void normalizeForAttention(int row, int worker) {
    normalize(row, layer.attentionNorm());
  }

  private void rotateAndRemember(int row, int worker) {
    int keyDim = config.keyDim();
    int q = row * config.queryHeads() * keyDim;
    int k = row * config.kvHeads() * keyDim;
    int v = row * config.kvHeads() * config.valueDim();
    layer.query().addBias(kernels, queries, q);
    layer.key().addBias(kernels, keys, k);
    layer.value().addBias(kernels, values, v);
    layer.queryNorm().apply(kernels, queries, q, config.queryHeads(), keyDim);
    layer.keyNorm().apply(kernels, keys, k, config.kvHeads(), keyDim);
    int angles = row * rope.pairs();
    rope.rotate(queries, q, config.queryHeads(), keyDim, cosines, sines, angles);
    rope.rotate(keys, k, config.kvHeads(), keyDim, cosines, sines, angles);
    if (!batch.hasFailed(sequenceOfRow[row])) {
      remember(row, q, k, v);
    }
  }

  /** What cannot be stored fails its own sequence and no other. */
  private void remember(int row, int q, int k, int v) {
    int sequence = sequenceOfRow[row];
    KvCache cache = batch.cache(sequence);
    try {
      cache.append(layerIndex, batch.position(row), keys, k, values, v);
      if (cache.seesQueries()) {
        cache.see(layerIndex, batch.position(row), queries, q);
      }
    } catch (RuntimeException e) {
      batch.fail(sequence, e);
    }
  }

  private void addAndNormalize(int row, int worker) {
    layer.output().addBias(kernels, update, row * config.hidden());
    addUpdate(row);
    normalize(row, layer.feedForwardNorm());
  }

  private void activate(int row, int worker) {
    int at = row * config.feedForward();
    layer.gate().addBias(kernels, gate, at);
    layer.up().addBias(kernels, up, at);
    kernels.rows().gatedSilu(gate, up, at, config.feedForward());
  }

  private void addFeedForward(int row, int worker) {
    layer.down().addBias(kernels, update, row * config.hidden());
    addUpdate(row);
  }

  private void addUpdate(int row) {
    int at = row * config.hidden();
    kernels.rows().add(x, at, update, at, config.hidden());
  }

  private void normalize(int row, float[] weight) {
    int at = row * config.hidden();
    kernels.rows().rmsNorm(x, at, weight, config.normEpsilon(), normed, at, config.hidden());
  }

  private void computeLogits() {
    int wanted = batch.logitRows();
    float[] logits = batch.roomForLogits(config.vocabulary());
    if (wanted == 0) {
      return;
    }
    int hidden = config.hidden();
    for (int i = 0; i < wanted; i++) {
      int at = batch.rowWithLogits(i) * hidden;
      kernels
          .rows()
          .rmsNorm(x, at, weights.outputNorm(), config.normEpsilon(), normed, i * hidden, hidden);
    }
    products.multiply(normed, wanted, weights.output(), logits);
  }
}
