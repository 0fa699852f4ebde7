package dev.kvasir.lab.answer;

import java.math.BigInteger;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares mathematical results that differ only in notation: 1/2, {@code \frac{1}{2}} and 0.5 are
 * equal, and so are 1,200 and 1200. Expressions that are no numbers are compared as text without
 * spaces and commands of layout; they are not simplified.
 */
public final class MathText {
  private static final Pattern LAYOUT =
      Pattern.compile(
          "\\\\(left|right|displaystyle|mathrm|mathbf|text|textbf|,|;|!|:)|\\^\\\\circ|\\^\\{\\\\circ}"
              + "|\\\\%|%|\\\\\\$|\\$|\\s");
  private static final Pattern FRACTION =
      Pattern.compile("(-?)\\\\[dt]?frac(?:\\{(-?\\d+)}|(\\d))(?:\\{(-?\\d+)}|(\\d))");
  private static final Pattern RATIO = Pattern.compile("(-?\\d+)/(-?\\d+)");
  private static final Pattern DECIMAL = Pattern.compile("(-?)(\\d*)(?:\\.(\\d*))?");
  private static final Pattern THOUSANDS = Pattern.compile("-?\\d{1,3}(,\\d{3})+(\\.\\d+)?");

  private MathText() {}

  /** Returns whether two results denote the same. */
  public static boolean same(String left, String right) {
    return canonical(left).equals(canonical(right));
  }

  /** Returns one spelling for all notations of a result; the key that votes are counted by. */
  public static String canonical(String result) {
    String plain = LAYOUT.matcher(result).replaceAll("");
    plain = plain.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac");
    if (plain.endsWith(".")) {
      plain = plain.substring(0, plain.length() - 1);
    }
    if (THOUSANDS.matcher(plain).matches()) {
      plain = plain.replace(",", "");
    }
    String unwrapped = isWrapped(plain) ? plain.substring(1, plain.length() - 1) : plain;
    return rational(unwrapped).orElse(unwrapped);
  }

  private static boolean isWrapped(String text) {
    return text.startsWith("{") && text.endsWith("}") && text.indexOf('}') == text.length() - 1;
  }

  private static Optional<String> rational(String text) {
    Matcher fraction = FRACTION.matcher(text);
    if (fraction.matches()) {
      String over = either(fraction, 2, 3);
      return reduced(fraction.group(1) + over, either(fraction, 4, 5));
    }
    Matcher ratio = RATIO.matcher(text);
    if (ratio.matches()) {
      return reduced(ratio.group(1), ratio.group(2));
    }
    Matcher decimal = DECIMAL.matcher(text);
    boolean digits = text.chars().anyMatch(Character::isDigit);
    if (!digits || !decimal.matches()) {
      return Optional.empty();
    }
    String after = decimal.group(3) == null ? "" : decimal.group(3);
    return reduced(decimal.group(1) + decimal.group(2) + after, "1" + "0".repeat(after.length()));
  }

  private static String either(Matcher matcher, int first, int second) {
    return matcher.group(first) == null ? matcher.group(second) : matcher.group(first);
  }

  private static Optional<String> reduced(String over, String under) {
    BigInteger numerator = new BigInteger(over.startsWith("--") ? over.substring(2) : over);
    BigInteger denominator = new BigInteger(under);
    if (denominator.signum() == 0) {
      return Optional.empty();
    }
    if (denominator.signum() < 0) {
      numerator = numerator.negate();
      denominator = denominator.negate();
    }
    BigInteger divisor = numerator.gcd(denominator).max(BigInteger.ONE);
    BigInteger whole = denominator.divide(divisor);
    String text = numerator.divide(divisor).toString();
    return Optional.of(whole.equals(BigInteger.ONE) ? text : text + "/" + whole);
  }
}
