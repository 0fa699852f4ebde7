package dev.kvasir.model;

import dev.kvasir.cache.RecurrentStates;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;

/**
 * Mamba-2 layers over the rows of a step, with their workspace. A head has a matrix S, to which
 * each token adds its channels x, weighted by the input vector b and the step size:
 *
 * <pre>
 * S = exp(step decay) S + b (step x)^T;  output = S^T c + skip x
 * </pre>
 *
 * Tokens of a sequence follow one another; heads and sequences are independent.
 */
final class Mamba2Pass implements AttentionPass {
  private final RecurrentConfig config;
  private final Mamba2Config sizes;
  private final float epsilon;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final MatrixProducts products;
  private final StepRows rows;
  private final CausalConvolution convolution;
  private final HeadScratch[] scratch; // by worker

  private float[] projected = {}; // (rows, gates, convolved channels, step sizes)
  private float[] mixed = {}; // (rows, convolved)
  private float[] convolved = {}; // (rows, convolved): heads, input vectors, output vectors
  private float[] ones = {}; // (rows, convolved)
  private float[] gates = {}; // (rows, inner)
  private float[] outputs = {}; // (rows, inner)
  private float[] factors = {}; // (rows, heads, 3): decays, step sizes and skips

  private int stateLayer;
  private Mamba2Weights weights;
  private float[][] norms; // by group
  private final WorkerPool.ParallelTask split = this::split;
  private final WorkerPool.ParallelTask convolve = this::convolve;
  private final WorkerPool.ParallelTask recur = this::recur;
  private final WorkerPool.ParallelTask finish = this::finish;

  /** What a worker needs for a head. */
  private static final class HeadScratch {
    private final float[] matrix; // (stateDim, headDim)
    private final RowBlock channels = new RowBlock();
    private final RowBlock inputs = new RowBlock();
    private final RowBlock outputs = new RowBlock();
    private final RowBlock factors = new RowBlock();
    private final RowBlock results = new RowBlock();

    HeadScratch(Mamba2Config sizes) {
      this.matrix = new float[sizes.matrixFloats()];
    }
  }

  Mamba2Pass(
      RecurrentConfig config,
      Mamba2Config sizes,
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
    this.norms = new float[sizes.groups()][sizes.inner() / sizes.groups()];
  }

  @Override
  public void ensureCapacity(int count) {
    projected = new float[count * sizes.projected()];
    mixed = new float[count * sizes.convolved()];
    convolved = new float[count * sizes.convolved()];
    ones = new float[count * sizes.convolved()];
    Arrays.fill(ones, 1);
    gates = new float[count * sizes.inner()];
    outputs = new float[count * sizes.inner()];
    factors = new float[count * sizes.heads() * 3];
  }

  @Override
  public void run(int layer, LayerWeights layerWeights, float[] normed, float[] update) {
    stateLayer = config.countBefore(layer);
    weights = (Mamba2Weights) layerWeights.attention();
    for (int group = 0; group < norms.length; group++) {
      int width = norms[group].length;
      System.arraycopy(weights.norm(), group * width, norms[group], 0, width);
    }
    int count = rows.count();
    products.multiply(normed, count, weights.input().matrix(), projected);
    workers.run(split, count);
    convolution.begin(stateLayer, mixed);
    workers.run(convolve, count);
    convolution.end();
    workers.run(recur, rows.batch().sequences() * sizes.heads());
    workers.run(finish, count);
    products.multiply(gates, count, weights.output().matrix(), update);
  }

  private void split(int row, int worker) {
    int from = row * sizes.projected();
    weights.input().addBias(kernels, projected, from);
    System.arraycopy(projected, from, gates, row * sizes.inner(), sizes.inner());
    System.arraycopy(
        projected, from + sizes.inner(), mixed, row * sizes.convolved(), sizes.convolved());
  }

  private void convolve(int row, int worker) {
    int at = row * sizes.convolved();
    convolution.run(row, weights.kernel(), convolved, at);
    if (weights.convolutionBias().length > 0) {
      kernels.rows().add(convolved, at, weights.convolutionBias(), 0, sizes.convolved());
    }
    kernels.rows().gatedSilu(convolved, ones, at, sizes.convolved());
  }

  /** Computes a head of a sequence, token by token. */
  private void recur(int part, int worker) {
    int sequence = part / sizes.heads();
    int head = part % sizes.heads();
    RecurrentStates states = rows.states(sequence);
    if (states == null) {
      return;
    }
    float[] matrix = scratch[worker].matrix;
    int stateAt = sizes.matricesAt() + head * sizes.matrixFloats();
    states.read(stateLayer, stateAt, matrix, 0, matrix.length);
    int first = rows.batch().firstRow(sequence);
    advance(first, rows.batch().endRow(sequence) - first, head, scratch[worker]);
    states.write(stateLayer, stateAt, matrix, 0, matrix.length);
  }

  private void advance(int first, int count, int head, HeadScratch own) {
    int width = sizes.convolved();
    int headDim = sizes.headDim();
    int stateDim = sizes.stateDim();
    int x = first * width + head * headDim;
    int input = first * width + sizes.inner() + sizes.group(head) * stateDim;
    for (int row = first; row < first + count; row++) {
      weigh(row, head);
    }
    int all = sizes.heads();
    kernels
        .recurrences()
        .mamba(
            own.matrix,
            own.channels.set(convolved, x, width, count, headDim),
            own.inputs.set(convolved, input, width, count, stateDim),
            own.outputs.set(convolved, input + sizes.groups() * stateDim, width, count, stateDim),
            own.factors.set(factors, 3 * (first * all + head), 3 * all, count, 3),
            own.results.set(
                outputs, first * sizes.inner() + head * headDim, sizes.inner(), count, headDim));
  }

  /** Computes the factors of a token in a head. */
  private void weigh(int row, int head) {
    int stepAt = (row + 1) * sizes.projected() - sizes.heads() + head;
    double step =
        Math.clamp(
            DeltaNetPass.softplus(projected[stepAt] + weights.stepBias()[head]),
            sizes.shortestStep(),
            sizes.longestStep());
    int at = 3 * (row * sizes.heads() + head);
    factors[at] = (float) Math.exp(step * weights.decay()[head]);
    factors[at + 1] = (float) step;
    factors[at + 2] = weights.skip()[head];
  }

  /** Gates the outputs and normalizes each group; the result replaces the gates. */
  private void finish(int row, int worker) {
    int at = row * sizes.inner();
    kernels.rows().gatedSilu(gates, outputs, at, sizes.inner());
    int width = sizes.inner() / sizes.groups();
    for (int group = 0; group < sizes.groups(); group++) {
      int from = at + group * width;
      kernels.rows().rmsNorm(gates, from, norms[group], epsilon, gates, from, width);
    }
  }
}
