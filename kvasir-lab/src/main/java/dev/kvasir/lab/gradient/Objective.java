package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;

/**
 * How a loss depends on the logits of a text's tokens. It is a sum or a mean over tokens, so that
 * each one's logits become gradients by themselves, on any thread.
 */
public sealed interface Objective permits MeanCrossEntropy, SampledTokens, AnswerMargins {
  /**
   * What a loss came to.
   *
   * @param counted tokens that had a share in it
   */
  record Loss(double value, int counted) {}

  /** Positions whose logits may have a share in the loss, ascending. */
  int[] positions(int[] tokens);

  /**
   * Changes the logits of a position into the gradients of the loss.
   *
   * @param logits from {@code at} on, as many as there are tokens in the vocabulary
   * @return the position's share of the loss; none, with gradients of zero, where it has no share
   */
  OptionalDouble replaceWithGradients(
      Kernels kernels, float[] logits, int at, int vocabulary, int[] tokens, int position);

  /** The loss that shares make. */
  default double total(DoubleStream shares) {
    return shares.sum();
  }
}
