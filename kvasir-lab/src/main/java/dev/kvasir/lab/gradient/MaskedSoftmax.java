package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/** Softmax of a query's scores over its visible positions. */
public final class MaskedSoftmax {
  private MaskedSoftmax() {}

  /**
   * Replaces the scores from {@code firstVisible} to {@code endVisible} with weights and the rest
   * from {@code begin} to {@code end} with zeros, so that rows with different masks can be summed
   * together.
   *
   * @param at offset of the score of position 0
   * @param scale scale of the scores
   * @return the log-sum-exp
   */
  public static float compute(
      Kernels kernels,
      float[] scores,
      int at,
      float scale,
      int begin,
      int firstVisible,
      int endVisible,
      int end) {
    kernels.rows().scale(scores, at + firstVisible, endVisible - firstVisible, scale);
    return withSink(
        kernels, scores, at, Float.NEGATIVE_INFINITY, begin, firstVisible, endVisible, end);
  }

  /**
   * Does the same with scores that are scaled already.
   *
   * @param sink score that takes its share of the weights, or negative infinity
   */
  static float withSink(
      Kernels kernels,
      float[] scores,
      int at,
      float sink,
      int begin,
      int firstVisible,
      int endVisible,
      int end) {
    int visible = endVisible - firstVisible;
    float most = Math.max(sink, kernels.rows().maximum(scores, at + firstVisible, visible));
    float sum = kernels.rows().exponentiate(scores, at + firstVisible, visible, most);
    if (sink > Float.NEGATIVE_INFINITY) {
      sum += (float) Math.exp(sink - most);
    }
    kernels.rows().scale(scores, at + firstVisible, visible, 1 / sum);
    Arrays.fill(scores, at + begin, at + firstVisible, 0);
    Arrays.fill(scores, at + endVisible, at + end, 0);
    return most + (float) Math.log(sum);
  }
}
