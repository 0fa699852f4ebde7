package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Weights;
import java.util.Arrays;
import java.util.stream.DoubleStream;

/**
 * The end of a decoder: from the last layer's output to the mean cross-entropy of each next token,
 * and back. Logits of a whole text would take gigabytes, so it goes some tokens at a time.
 */
final class LossHead {
  private static final int ROWS = 128;

  private final ModelConfig config;
  private final Weights weights;
  private final WeightProducts products;
  private final Kernels kernels;
  private final Crew crew;
  private final float[] normed; // (ROWS, hidden)
  private final float[] logits; // (ROWS, vocabulary)

  LossHead(
      ModelConfig config, Weights weights, WeightProducts products, Kernels kernels, Crew crew) {
    this.config = config;
    this.weights = weights;
    this.products = products;
    this.kernels = kernels;
    this.crew = crew;
    this.normed = new float[ROWS * config.hidden()];
    this.logits = new float[Math.multiplyExact(ROWS, config.vocabulary())];
  }

  /**
   * @param x (tokens, hidden), the output of the last layer
   */
  double loss(float[] x, int[] tokens) {
    double[] losses = new double[tokens.length - 1];
    for (int first = 0; first < losses.length; first += ROWS) {
      computeLosses(x, tokens, first, rowsFrom(first, losses.length), losses);
    }
    return mean(losses);
  }

  /**
   * The loss and its gradients.
   *
   * @param dx (tokens, hidden), set
   */
  double lossAndGradients(float[] x, int[] tokens, float[] dx) {
    int hidden = config.hidden();
    double[] losses = new double[tokens.length - 1];
    Arrays.fill(dx, 0);
    for (int first = 0; first < losses.length; first += ROWS) {
      int start = first;
      int rows = rowsFrom(first, losses.length);
      computeLosses(x, tokens, first, rows, losses);
      crew.run(
          (row, worker) -> turnIntoGradients(row, tokens[start + row + 1], losses.length), rows);
      float[] dNormed = new float[rows * hidden];
      products.addBackward(logits, rows, weights.output(), dNormed);
      crew.run(
          (row, worker) -> {
            int at = (start + row) * hidden;
            RmsNorms.addBackward(
                x, at, weights.outputNorm(), config.normEpsilon(), dNormed, row * hidden, dx, at);
          },
          rows);
    }
    return mean(losses);
  }

  private static int rowsFrom(int first, int inAll) {
    return Math.min(ROWS, inAll - first);
  }

  private static double mean(double[] losses) {
    return DoubleStream.of(losses).average().orElseThrow();
  }

  /** Leaves probabilities where the logits were. */
  private void computeLosses(float[] x, int[] tokens, int first, int rows, double[] losses) {
    computeLogits(x, first, rows);
    int vocabulary = config.vocabulary();
    crew.run(
        (row, worker) -> {
          int at = row * vocabulary;
          float wanted = logits[at + tokens[first + row + 1]];
          float most = kernels.rows().maximum(logits, at, vocabulary);
          float sum = kernels.rows().exponentiate(logits, at, vocabulary, most);
          kernels.rows().scale(logits, at, vocabulary, 1 / sum);
          losses[first + row] = Math.log(sum) + most - wanted;
        },
        rows);
  }

  /** The logits of at most {@link #ROWS} tokens: (rows, vocabulary), valid until the next call. */
  float[] computeLogits(float[] x, int first, int rows) {
    int hidden = config.hidden();
    crew.run(
        (row, worker) ->
            kernels
                .rows()
                .rmsNorm(
                    x,
                    (first + row) * hidden,
                    weights.outputNorm(),
                    config.normEpsilon(),
                    normed,
                    row * hidden,
                    hidden),
        rows);
    products.forward(normed, rows, weights.output(), logits);
    return logits;
  }

  private void turnIntoGradients(int row, int wanted, int predictions) {
    int at = row * config.vocabulary();
    logits[at + wanted] -= 1;
    kernels.rows().scale(logits, at, config.vocabulary(), 1f / predictions);
  }
}
