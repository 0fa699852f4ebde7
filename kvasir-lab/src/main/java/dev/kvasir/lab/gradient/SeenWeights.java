package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/** Softmax of a query's scores over the positions that it sees. */
public final class SeenWeights {
  private SeenWeights() {}

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
      int firstSeen,
      int endSeen,
      int end) {
    int seen = endSeen - firstSeen;
    kernels.rows().scale(scores, at + firstSeen, seen, scale);
    float most = kernels.rows().maximum(scores, at + firstSeen, seen);
    float sum = kernels.rows().exponentiate(scores, at + firstSeen, seen, most);
    kernels.rows().scale(scores, at + firstSeen, seen, 1 / sum);
    Arrays.fill(scores, at + begin, at + firstSeen, 0);
    Arrays.fill(scores, at + endSeen, at + end, 0);
    return most + (float) Math.log(sum);
  }
}
