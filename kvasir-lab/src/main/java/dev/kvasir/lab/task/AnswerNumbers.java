package dev.kvasir.lab.task;

import java.math.BigDecimal;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the number that an answer means. */
public final class AnswerNumbers {
  private static final Pattern DIGITS = Pattern.compile("\\d+");

  /** Thousands may be parted by commas; a full stop counts only before digits. */
  private static final Pattern NUMBER =
      Pattern.compile("-?(?:\\d{1,3}(?:,\\d{3})+(?!\\d)|\\d+)(?:\\.\\d+)?");

  private AnswerNumbers() {}

  /** The first digits of a text, leading zeros kept; for answers that are codes. */
  public static Optional<String> firstDigits(String text) {
    Matcher matcher = DIGITS.matcher(text);
    return matcher.find() ? Optional.of(matcher.group()) : Optional.empty();
  }

  /**
   * The last number of a text, which is how answers of GSM8K are read: whatever a model writes on
   * its way, it ends with the result. 1,200 and 1200.0 are the same number.
   */
  public static Optional<BigDecimal> last(String text) {
    Matcher matcher = NUMBER.matcher(text);
    Optional<BigDecimal> last = Optional.empty();
    while (matcher.find()) {
      boolean isMinus = matcher.start() == 0 || !isPartOfWord(text.charAt(matcher.start() - 1));
      String digits = matcher.group().replace(",", "");
      // A dash after a digit or a letter is a minus between two, not a sign.
      String number = isMinus ? digits : digits.replace("-", "");
      last = Optional.of(new BigDecimal(number).stripTrailingZeros());
    }
    return last;
  }

  private static boolean isPartOfWord(char before) {
    return Character.isLetterOrDigit(before) || before == ')';
  }
}
