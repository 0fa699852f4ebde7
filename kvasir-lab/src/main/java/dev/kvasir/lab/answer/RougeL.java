package dev.kvasir.lab.answer;

import java.util.List;

/** Rouge-L: the F1 score of the longest common subsequence of tokens (Lin, 2004). */
public final class RougeL {
  private RougeL() {}

  /** Returns the score of an answer, 0 to 1. */
  public static double of(Words words, String answer, String reference) {
    List<String> given = words.of(answer);
    List<String> expected = words.of(reference);
    return TokenF1.harmonic(commonSubsequence(given, expected), given.size(), expected.size());
  }

  static int commonSubsequence(List<?> left, List<?> right) {
    int[] best = new int[right.size() + 1]; // by prefixes of the right side
    for (Object item : left) {
      int diagonal = 0;
      for (int i = 1; i < best.length; i++) {
        int above = best[i];
        best[i] = item.equals(right.get(i - 1)) ? diagonal + 1 : Math.max(best[i], best[i - 1]);
        diagonal = above;
      }
    }
    return best[right.size()];
  }
}
