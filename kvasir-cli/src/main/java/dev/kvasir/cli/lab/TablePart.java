package dev.kvasir.cli.lab;

import dev.kvasir.error.InvalidInputException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The share of a table's rows that one of several processes measures.
 *
 * @param number from 1
 */
record TablePart(int number, int total) {
  private static final Pattern TYPED = Pattern.compile("(\\d{1,3})/(\\d{1,3})");

  /**
   * @param typed for example {@code 2/4}
   */
  static TablePart parse(String typed) {
    Matcher found = TYPED.matcher(typed);
    if (found.matches()) {
      int number = Integer.parseInt(found.group(1));
      int total = Integer.parseInt(found.group(2));
      if (number >= 1 && number <= total) {
        return new TablePart(number, total);
      }
    }
    throw new InvalidInputException(
        "--part is '%s'; expected a number of as many as there are, as in 2/4".formatted(typed));
  }
}
