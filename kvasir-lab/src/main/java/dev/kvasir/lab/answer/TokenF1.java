package dev.kvasir.lab.answer;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The harmonic mean of precision and recall over the tokens of an answer, without their order. */
public final class TokenF1 {
  private TokenF1() {}

  /** Returns the score of an answer, 0 to 1. */
  public static double of(Words words, String answer, String reference) {
    List<String> given = words.of(answer);
    List<String> expected = words.of(reference);
    Map<String, Integer> left = new HashMap<>();
    expected.forEach(word -> left.merge(word, 1, Integer::sum));
    int same = 0;
    for (String word : given) {
      if (left.merge(word, -1, Integer::sum) >= 0) {
        same++;
      }
    }
    return harmonic(same, given.size(), expected.size());
  }

  /** Returns {@code 2 same / (given + expected)}, 0 if nothing is shared. */
  static double harmonic(int same, int given, int expected) {
    return same == 0 ? 0 : 2.0 * same / (given + expected);
  }
}
