package dev.kvasir.lab.answer;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The share of the right number among all numbers of an answer, for counts and paragraphs. */
public final class NumberShare {
  private static final Pattern NUMBER = Pattern.compile("\\d+");

  private NumberShare() {}

  /** Returns the share, 0 without a number. */
  public static double of(String answer, String right) {
    List<String> numbers = numbers(answer);
    return numbers.isEmpty()
        ? 0
        : (double) numbers.stream().filter(right::equals).count() / numbers.size();
  }

  /** Returns the share of the number that a reference such as "Paragraph 12" contains. */
  public static double ofParagraph(String answer, String reference) {
    List<String> right = numbers(reference);
    return right.isEmpty() ? 0 : of(answer, right.getFirst());
  }

  private static List<String> numbers(String text) {
    return NUMBER.matcher(text).results().map(MatchResult::group).toList();
  }
}
