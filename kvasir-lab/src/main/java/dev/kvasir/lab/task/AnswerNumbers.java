package dev.kvasir.lab.task;

import java.math.BigDecimal;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Extracts the numeric answer from generated text. */
public final class AnswerNumbers {
  private static final Pattern DIGITS = Pattern.compile("\\d+");

  /** Allows commas between thousands; a period counts only before digits. */
  private static final Pattern NUMBER =
      Pattern.compile("-?(?:\\d{1,3}(?:,\\d{3})+(?!\\d)|\\d+)(?:\\.\\d+)?");

  private AnswerNumbers() {}

  /** Returns the first digits of a text with leading zeros, for answers that are codes. */
  public static Optional<String> firstDigits(String text) {
    Matcher matcher = DIGITS.matcher(text);
    return matcher.find() ? Optional.of(matcher.group()) : Optional.empty();
  }

  /**
   * Returns the last number of a text, the convention of GSM8K: a model's reasoning ends with the
   * result. 1,200 and 1200.0 are equal.
   */
  public static Optional<BigDecimal> last(String text) {
    Matcher matcher = NUMBER.matcher(text);
    Optional<BigDecimal> last = Optional.empty();
    while (matcher.find()) {
      boolean isMinus = matcher.start() == 0 || !isPartOfWord(text.charAt(matcher.start() - 1));
      String digits = matcher.group().replace(",", "");
      // A dash after a digit or a letter is a binary minus, not a sign.
      String number = isMinus ? digits : digits.replace("-", "");
      last = Optional.of(new BigDecimal(number).stripTrailingZeros());
    }
    return last;
  }

  private static boolean isPartOfWord(char before) {
    return Character.isLetterOrDigit(before) || before == ')';
  }
}
