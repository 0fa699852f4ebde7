package dev.kvasir.methods.ott;

import dev.kvasir.codec.Page;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Selects the tokens of a head with the smallest keys, by the sum of magnitudes. */
final class SmallestKeys {
  private SmallestKeys() {}

  /**
   * @param keys (tokens, keyDim) from {@code at} on
   * @return {@code count} tokens in rising order; the earlier ones of equal keys
   */
  static int[] of(float[] keys, int at, int keyDim, int count) {
    double[] sizes = new double[Page.TOKENS];
    for (int i = 0; i < Page.TOKENS * keyDim; i++) {
      sizes[i / keyDim] += Math.abs(keys[at + i]);
    }
    return IntStream.range(0, Page.TOKENS)
        .boxed()
        .sorted(Comparator.comparingDouble(token -> sizes[token]))
        .limit(count)
        .mapToInt(token -> token)
        .sorted()
        .toArray();
  }
}
