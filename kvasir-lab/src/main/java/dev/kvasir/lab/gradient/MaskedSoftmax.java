package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/** Softmax of a query's scores over the positions that it sees. */
public final class MaskedSoftmax {
  private MaskedSoftmax() {}

  /**
   * Makes weights of the scores from {@code firstSeen} to {@code endSeen}, and zeros of the rest
   * from {@code begin} to {@code end}, so that rows which see differently are summed in one go.
   *
   * @param at where the score of position 0 is or would be
   * @param scale of the scores
   * @return the logarithm of the sum
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
    int visible = endVisible - firstVisible;
    kernels.rows().scale(scores, at + firstVisible, visible, scale);
    float most = kernels.rows().maximum(scores, at + firstVisible, visible);
    float sum = kernels.rows().exponentiate(scores, at + firstVisible, visible, most);
    kernels.rows().scale(scores, at + firstVisible, visible, 1 / sum);
    Arrays.fill(scores, at + begin, at + firstVisible, 0);
    Arrays.fill(scores, at + endVisible, at + end, 0);
    return most + (float) Math.log(sum);
  }
}
