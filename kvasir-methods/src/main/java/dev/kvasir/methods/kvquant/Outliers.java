package dev.kvasir.methods.kvquant;

import java.util.Comparator;
import java.util.stream.IntStream;

/** Selects the outliers of a vector: those without which its range is smallest. */
final class Outliers {
  private Outliers() {}

  /**
   * @param x numbers from {@code at} on
   * @return {@code count} indices in rising order
   */
  static int[] of(float[] x, int at, int length, int count) {
    int[] byNumber =
        IntStream.range(0, length)
            .boxed()
            .sorted(Comparator.comparingDouble(i -> x[at + i]))
            .mapToInt(i -> i)
            .toArray();
    int below = 0;
    float least = Float.POSITIVE_INFINITY;
    for (int candidate = 0; candidate <= count; candidate++) {
      int highest = byNumber[length - 1 - (count - candidate)];
      float range = x[at + highest] - x[at + byNumber[candidate]];
      if (range < least) {
        least = range;
        below = candidate;
      }
    }
    int lower = below;
    return IntStream.range(0, count)
        .map(i -> byNumber[i < lower ? i : length - count + i])
        .sorted()
        .toArray();
  }
}
