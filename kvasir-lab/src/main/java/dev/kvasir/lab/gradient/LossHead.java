package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.Objective.Loss;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Weights;
import java.util.Arrays;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * The head of a decoder: from the output of the last layer to the loss of an objective, and back.
 * It processes some tokens at a time, because logits of a whole text would take gigabytes.
 */
final class LossHead {
  /**
   * 64 MB of logits, so that weights are rarely expanded, but at least 128 rows of any vocabulary.
   */
  private static final int LOGITS = 1 << 24;

  private static final int MIN_ROWS = 128;

  private final ModelConfig config;
  private final Weights weights;
  private final RowProducts products;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final int maxRows;
  private final float[] normed; // (mostRows, hidden)
  private final float[] logits; // (mostRows, vocabulary)
  private final float[] slopes; // (mostRows, vocabulary), of the soft cap; empty without one

  /**
   * @param maxRows number of tokens per pass; does not affect the result
   */
  LossHead(ModelConfig config, Weights weights, RowProducts products, int maxRows) {
    this.config = config;
    this.weights = weights;
    this.products = products;
    this.kernels = products.kernels();
    this.workers = products.workers();
    this.maxRows = maxRows;
    this.normed = new float[maxRows * config.hidden()];
    this.logits = new float[Math.multiplyExact(maxRows, config.vocabulary())];
    this.slopes = new float[config.scales().logitCap() > 0 ? logits.length : 0];
  }

  static int rowsPerPass(int tokens, int vocabulary) {
    return Math.min(tokens, Math.max(MIN_ROWS, LOGITS / vocabulary));
  }

  /**
   * @param x (tokens, hidden), the output of the last layer
   */
  Loss loss(float[] x, int[] tokens, Objective objective) {
    return sweep(x, tokens, objective, (positions, first, rows) -> {});
  }

  /**
   * Returns the loss and computes its gradients.
   *
   * @param dx (tokens, hidden), set
   */
  Loss lossAndGradients(float[] x, int[] tokens, Objective objective, float[] dx) {
    Arrays.fill(dx, 0);
    return sweep(
        x, tokens, objective, (positions, first, rows) -> backward(x, positions, first, rows, dx));
  }

  /** Receives blocks of positions whose logits have been replaced by gradients. */
  private interface Sweep {
    void block(int[] positions, int first, int rows);
  }

  private Loss sweep(float[] x, int[] tokens, Objective objective, Sweep sweep) {
    int[] positions = objective.positions(tokens);
    int vocabulary = config.vocabulary();
    OptionalDouble[] shares = new OptionalDouble[positions.length];
    for (int first = 0; first < positions.length; first += maxRows) {
      int start = first;
      int rows = Math.min(maxRows, positions.length - first);
      computeLogits(x, positions, first, rows);
      workers.run(
          (row, worker) -> {
            int position = positions[start + row];
            shares[start + row] =
                objective.replaceWithGradients(
                    kernels, logits, row * vocabulary, vocabulary, tokens, position);
          },
          rows);
      sweep.block(positions, first, rows);
    }
    double[] counted = Stream.of(shares).flatMapToDouble(OptionalDouble::stream).toArray();
    return new Loss(objective.total(DoubleStream.of(counted)), counted.length);
  }

  private void backward(float[] x, int[] positions, int first, int rows, float[] dx) {
    int hidden = config.hidden();
    float[] dNormed = new float[rows * hidden];
    backwardThroughScale(rows);
    products.products().addBackward(logits, rows, weights.output(), dNormed);
    workers.run(
        (row, worker) -> {
          int at = positions[first + row] * hidden;
          RmsNorms.addBackward(
              x, at, weights.outputNorm(), config.normEpsilon(), dNormed, row * hidden, dx, at);
        },
        rows);
  }

  /**
   * Returns the logits of at most {@code maxRows} positions, starting with the {@code first}:
   * (rows, vocabulary), valid until the next call.
   */
  float[] computeLogits(float[] x, int[] positions, int first, int rows) {
    int hidden = config.hidden();
    workers.run(
        (row, worker) ->
            kernels
                .rows()
                .rmsNorm(
                    x,
                    positions[first + row] * hidden,
                    weights.outputNorm(),
                    config.normEpsilon(),
                    normed,
                    row * hidden,
                    hidden),
        rows);
    products.products().forward(normed, rows, weights.output(), logits);
    products.scale(logits, rows, config.vocabulary(), config.scales().logit());
    if (slopes.length > 0) {
      workers.run((row, worker) -> capLogits(row * config.vocabulary()), rows);
    }
    return logits;
  }

  /** Soft-caps the logits of a row, {@code c tanh(x / c)}; the slope is 1 minus tanh squared. */
  private void capLogits(int at) {
    float cap = config.scales().logitCap();
    RowKernels.softCap(logits, at, config.vocabulary(), cap);
    for (int i = at; i < at + config.vocabulary(); i++) {
      float tanh = logits[i] / cap;
      slopes[i] = 1 - tanh * tanh;
    }
  }

  /** Changes gradients of logits into those of the output projection. */
  private void backwardThroughScale(int rows) {
    int vocabulary = config.vocabulary();
    if (slopes.length > 0) {
      workers.run(
          (row, worker) -> {
            int at = row * vocabulary;
            kernels.rows().multiply(logits, at, slopes, at, logits, at, vocabulary);
          },
          rows);
    }
    products.scale(logits, rows, vocabulary, config.scales().logit());
  }
}
