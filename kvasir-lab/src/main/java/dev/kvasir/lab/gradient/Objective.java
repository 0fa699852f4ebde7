package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;

/**
 * A loss as a function of the logits of a text. It is a sum or mean over tokens, so each token's
 * logits can be converted to gradients independently, on any thread.
 */
public sealed interface Objective permits MeanCrossEntropy, SampledTokens, AnswerMargins {
  /**
   * The value of a loss.
   *
   * @param counted number of tokens that contribute to it
   */
  record Loss(double value, int counted) {}

  /** Returns the positions whose logits may contribute to the loss, ascending. */
  int[] positions(int[] tokens);

  /**
   * Replaces the logits of a position with the gradients of the loss.
   *
   * @param logits logits from {@code at} on, one for each token of the vocabulary
   * @return the contribution of the position to the loss; empty, with zero gradients, if it has
   *     none
   */
  OptionalDouble replaceWithGradients(
      Kernels kernels, float[] logits, int at, int vocabulary, int[] tokens, int position);

  /** Combines the contributions of positions to the loss. */
  default double total(DoubleStream shares) {
    return shares.sum();
  }
}
