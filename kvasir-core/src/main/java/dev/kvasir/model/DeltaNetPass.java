package dev.kvasir.model;

import dev.kvasir.cache.RecurrentStates;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;

/**
 * Gated delta nets over the rows of a step, with their workspace. A head has a matrix S, which maps
 * keys to values and learns each token's pair:
 *
 * <pre>
 * S = decay S;  S = S + k rate (v - S^T k)^T;  output = S^T q
 * </pre>
 *
 * Tokens of a sequence follow one another; heads and sequences are independent.
 */
final class DeltaNetPass implements AttentionPass {
  /** Keeps the length of a vector above 0. */
  private static final double LENGTH_EPSILON = 1e-6;

  private final RecurrentConfig config;
  private final DeltaNetConfig sizes;
  private final float epsilon;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final MatrixProducts products;
  private final StepRows rows;
  private final CausalConvolution convolution;
  private final HeadScratch[] scratch; // by worker

  private float[] fused = {}; // (rows, keyHeads, queries, keys, values and gates)
  private float[] mixed = {}; // (rows, convolved)
  private float[] convolved = {}; // (rows, convolved): queries, keys, values
  private float[] ones = {}; // (rows, convolved)
  private float[] gates = {}; // (rows, valueHeads, valueDim)
  private float[] outputs = {}; // (rows, valueHeads, valueDim)
  private float[] rates = {}; // (rows, valueHeads), or both
  private float[] decays = {}; // (rows, valueHeads)
  private float[] factors = {}; // (rows, valueHeads, 2): decays and rates of a step

  private int stateLayer;
  private DeltaNetWeights weights;
  private final WorkerPool.ParallelTask split = this::split;
  private final WorkerPool.ParallelTask convolve = this::convolve;
  private final WorkerPool.ParallelTask recur = this::recur;
  private final WorkerPool.ParallelTask finish = this::finish;

  /** What a worker needs for a head. */
  private static final class HeadScratch {
    private final float[] matrix; // (keyDim, valueDim)
    private final RowBlock queries = new RowBlock();
    private final RowBlock keys = new RowBlock();
    private final RowBlock values = new RowBlock();
    private final RowBlock factors = new RowBlock();
    private final RowBlock outputs = new RowBlock();

    HeadScratch(DeltaNetConfig sizes) {
      this.matrix = new float[sizes.matrixFloats()];
    }
  }

  DeltaNetPass(
      RecurrentConfig config,
      DeltaNetConfig sizes,
      float epsilon,
      Kernels kernels,
      WorkerPool workers,
      MatrixProducts products,
      StepRows rows) {
    this.config = config;
    this.sizes = sizes;
    this.epsilon = epsilon;
    this.kernels = kernels;
    this.workers = workers;
    this.products = products;
    this.rows = rows;
    this.convolution =
        new CausalConvolution(kernels.recurrences(), rows, sizes.taps(), sizes.convolved());
    this.scratch = new HeadScratch[workers.size()];
    Arrays.setAll(scratch, worker -> new HeadScratch(sizes));
  }

  @Override
  public void ensureCapacity(int count) {
    fused = new float[count * (int) sizes.widest()];
    mixed = new float[count * sizes.convolved()];
    convolved = new float[count * sizes.convolved()];
    ones = new float[count * sizes.convolved()];
    Arrays.fill(ones, 1);
    gates = new float[count * sizes.valueChannels()];
    outputs = new float[count * sizes.valueChannels()];
    rates = new float[count * 2 * sizes.valueHeads()];
    decays = new float[count * sizes.valueHeads()];
    factors = new float[count * sizes.valueHeads() * 2];
  }

  @Override
  public void run(int layer, LayerWeights layerWeights, float[] normed, float[] update) {
    stateLayer = config.countBefore(layer);
    weights = (DeltaNetWeights) layerWeights.attention();
    boolean isFused = weights.gate().isEmpty();
    int count = rows.count();
    products.begin(normed, count, weights.mixed().matrix().columns());
    products.add(weights.mixed().matrix(), isFused ? fused : mixed);
    if (!isFused) {
      products.add(weights.gate().get().matrix(), gates);
    }
    products.add(weights.rates().matrix(), rates);
    if (weights.decays().isPresent()) {
      products.add(weights.decays().get().matrix(), decays);
    }
    products.run();
    if (isFused) {
      workers.run(split, count);
    }
    convolution.begin(stateLayer, mixed);
    workers.run(convolve, count);
    convolution.end();
    workers.run(recur, rows.batch().sequences() * sizes.valueHeads());
    workers.run(finish, count);
    products.multiply(gates, count, weights.output().matrix(), update);
  }

  /** Moves the parts of every key head to the order of a convolution's channels. */
  private void split(int row, int worker) {
    int keyDim = sizes.keyDim();
    int values = sizes.valueHeadsPerKey() * sizes.valueDim();
    int from = row * (int) sizes.widest();
    for (int head = 0; head < sizes.keyHeads(); head++) {
      int to = row * sizes.convolved() + head * keyDim;
      System.arraycopy(fused, from, mixed, to, keyDim);
      System.arraycopy(fused, from + keyDim, mixed, to + sizes.keyChannels(), keyDim);
      int toValues = row * sizes.convolved() + 2 * sizes.keyChannels() + head * values;
      System.arraycopy(fused, from + 2 * keyDim, mixed, toValues, values);
      int toGates = row * sizes.valueChannels() + head * values;
      System.arraycopy(fused, from + 2 * keyDim + values, gates, toGates, values);
      from += 2 * (keyDim + values);
    }
  }

  private void convolve(int row, int worker) {
    int at = row * sizes.convolved();
    convolution.run(row, weights.kernel(), convolved, at);
    kernels.rows().gatedSilu(convolved, ones, at, sizes.convolved());
    double scale = 1 / Math.sqrt(sizes.keyDim());
    for (int head = 0; head < sizes.keyHeads(); head++) {
      int query = at + head * sizes.keyDim();
      normalize(query, scale);
      normalize(query + sizes.keyChannels(), 1);
    }
  }

  /** Gives a query or key the length {@code scale}. */
  private void normalize(int at, double scale) {
    double squares = 0;
    for (int i = at; i < at + sizes.keyDim(); i++) {
      squares += convolved[i] * (double) convolved[i];
    }
    float factor = (float) (scale / Math.sqrt(squares + LENGTH_EPSILON));
    for (int i = at; i < at + sizes.keyDim(); i++) {
      convolved[i] *= factor;
    }
  }

  /** Computes a value head of a sequence, token by token. */
  private void recur(int part, int worker) {
    int sequence = part / sizes.valueHeads();
    int head = part % sizes.valueHeads();
    RecurrentStates states = rows.states(sequence);
    if (states == null) {
      return;
    }
    float[] matrix = scratch[worker].matrix;
    int stateAt = sizes.matricesAt() + head * sizes.matrixFloats();
    states.read(stateLayer, stateAt, matrix, 0, matrix.length);
    int first = rows.batch().firstRow(sequence);
    learn(first, rows.batch().endRow(sequence) - first, head, scratch[worker]);
    states.write(stateLayer, stateAt, matrix, 0, matrix.length);
  }

  private void learn(int first, int count, int head, HeadScratch own) {
    int width = sizes.convolved();
    int keyDim = sizes.keyDim();
    int valueDim = sizes.valueDim();
    int query = first * width + sizes.keyHead(head) * keyDim;
    int value = first * width + 2 * sizes.keyChannels() + head * valueDim;
    for (int row = first; row < first + count; row++) {
      int at = 2 * (row * sizes.valueHeads() + head);
      factors[at] = decay(row, head);
      factors[at + 1] = sigmoid(rates[rateAt(row, head)]);
    }
    int all = sizes.valueHeads();
    int outputsAt = first * sizes.valueChannels() + head * valueDim;
    kernels
        .recurrences()
        .deltaNet(
            own.matrix,
            own.queries.set(convolved, query, width, count, keyDim),
            own.keys.set(convolved, query + sizes.keyChannels(), width, count, keyDim),
            own.values.set(convolved, value, width, count, valueDim),
            own.factors.set(factors, 2 * (first * all + head), 2 * all, count, 2),
            own.outputs.set(outputs, outputsAt, sizes.valueChannels(), count, valueDim));
  }

  private float decay(int row, int head) {
    float given =
        weights.decays().isPresent()
            ? decays[row * sizes.valueHeads() + head]
            : rates[rateAt(row, head) + sizes.valueHeadsPerKey()];
    double step = softplus(given + weights.decayBias()[head]);
    return (float) Math.exp(step * weights.decay()[head]);
  }

  /** Returns where the learning rate of a value head is. */
  private int rateAt(int row, int head) {
    if (weights.decays().isPresent()) {
      return row * sizes.valueHeads() + head;
    }
    int each = sizes.valueHeadsPerKey();
    return row * 2 * sizes.valueHeads() + head / each * 2 * each + head % each;
  }

  /** {@code log(1 + exp(x))}, without overflow. */
  static double softplus(double x) {
    return x > 20 ? x : Math.log1p(Math.exp(x));
  }

  static float sigmoid(float x) {
    return (float) (1 / (1 + Math.exp(-x)));
  }

  /** Normalizes the outputs of each head and gates them; the result replaces the gates. */
  private void finish(int row, int worker) {
    int at = row * sizes.valueChannels();
    for (int head = 0; head < sizes.valueHeads(); head++) {
      int from = at + head * sizes.valueDim();
      kernels
          .rows()
          .rmsNorm(outputs, from, weights.norm(), epsilon, outputs, from, sizes.valueDim());
    }
    kernels.rows().gatedSilu(gates, outputs, at, sizes.valueChannels());
  }
}
