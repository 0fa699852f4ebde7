package dev.kvasir.lab.answer;

import java.util.List;

/**
 * The similarity of two lines of code: {@code 1 - (insertions + deletions) / (both lengths)}, as
 * the ratio of fuzzy string libraries.
 */
public final class EditSimilarity {
  /** Fences and comments come before the line that completes the code. */
  private static final List<String> SKIPPED = List.of("`", "#", "//");

  private EditSimilarity() {}

  /** Returns the similarity of the first line of code in an answer, 0 to 1. */
  public static double ofFirstLine(String answer, String reference) {
    String line = answer.strip().lines().filter(EditSimilarity::isCode).findFirst().orElse("");
    return of(line, reference);
  }

  private static boolean isCode(String line) {
    return SKIPPED.stream().noneMatch(line::contains);
  }

  /** Returns the similarity of two texts, 0 to 1. */
  public static double of(String left, String right) {
    if (left.isEmpty() && right.isEmpty()) {
      return 1;
    }
    List<Integer> given = left.codePoints().boxed().toList();
    List<Integer> expected = right.codePoints().boxed().toList();
    return 2.0 * RougeL.commonSubsequence(given, expected) / (given.size() + expected.size());
  }
}
