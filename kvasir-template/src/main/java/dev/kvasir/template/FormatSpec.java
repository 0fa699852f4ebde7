package dev.kvasir.template;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/**
 * How one value is formatted by {@code %5.2f} or {@code {:>5.2f}}.
 *
 * @param alignment one of {@code < > ^ =}, or 0 for the default of the value
 * @param precision -1 if absent
 * @param type the conversion letter, or 0 if absent
 */
record FormatSpec(
    String fill,
    char alignment,
    String sign,
    boolean alternate,
    long width,
    boolean grouped,
    int precision,
    char type) {
  private static final int MAX_PRECISION = 400;

  FormatSpec {
    if (precision > MAX_PRECISION) {
      throw new EvaluationException("a format precision of more than " + MAX_PRECISION);
    }
  }

  String format(Object value, RenderBudget budget) {
    if (value instanceof Undefined undefined && type != 0 && type != 's') {
      throw undefined.misused();
    }
    return switch (type) {
      case 0 ->
          value instanceof Long || value instanceof Double && precision < 0
              ? number(PythonText.str(value), budget)
              : value instanceof Double real
                  ? number(general(real), budget)
                  : text(PythonText.str(value), budget);
      case 's' -> text(PythonText.str(value), budget);
      case 'c' ->
          text(value instanceof Long point ? character(point) : PythonText.str(value), budget);
      case 'd', 'i', 'u' -> number(Long.toString(whole(value)), budget);
      case 'x' -> number(radix(whole(value), 16, "0x"), budget);
      case 'X' -> number(radix(whole(value), 16, "0x").toUpperCase(Locale.ROOT), budget);
      case 'o' -> number(radix(whole(value), 8, "0o"), budget);
      case 'b' -> number(radix(whole(value), 2, "0b"), budget);
      case 'f', 'F' -> number(fixed(real(value)), budget);
      case '%' -> number(fixed(real(value) * 100) + "%", budget);
      case 'e' -> number(exponential(real(value), digits()), budget);
      case 'E' -> number(exponential(real(value), digits()).toUpperCase(Locale.ROOT), budget);
      case 'g' -> number(general(real(value)), budget);
      case 'G' -> number(general(real(value)).toUpperCase(Locale.ROOT), budget);
      default ->
          throw new EvaluationException(
              "the unsupported format '%s'; supported are s d x X o b c e f g and %%"
                  .formatted(type));
    };
  }

  private int digits() {
    return precision < 0 ? 6 : precision;
  }

  private static String character(long point) {
    if (!Character.isValidCodePoint(Math.clamp(point, -1, Integer.MAX_VALUE))) {
      throw new EvaluationException("the number " + point + " is no character");
    }
    return Character.toString((int) point);
  }

  private static long whole(Object value) {
    return switch (value) {
      case Long number -> number;
      case Boolean truth -> truth ? 1 : 0;
      case Double number when Math.abs(number) < Long.MAX_VALUE -> number.longValue();
      case null, default ->
          throw new EvaluationException(
              "a number format of a value of type " + PythonValues.typeName(value));
    };
  }

  private static double real(Object value) {
    return value instanceof Double number ? number : whole(value);
  }

  private String radix(long value, int radix, String prefix) {
    String digits = Long.toString(Math.abs(value), radix);
    return (value < 0 ? "-" : "") + (alternate ? prefix : "") + digits;
  }

  private static boolean special(double value) {
    return Double.isNaN(value) || Double.isInfinite(value);
  }

  private String fixed(double value) {
    return special(value)
        ? PythonText.number(value)
        : new BigDecimal(value).setScale(digits(), RoundingMode.HALF_EVEN).toPlainString();
  }

  private static String exponential(double value, int digits) {
    if (special(value)) {
      return PythonText.number(value);
    }
    var rounded = new BigDecimal(value).round(new MathContext(digits + 1, RoundingMode.HALF_EVEN));
    String all = rounded.unscaledValue().abs().toString();
    int exponent = rounded.signum() == 0 ? 0 : all.length() - 1 - rounded.scale();
    String padded = all + "0".repeat(Math.max(0, digits + 1 - all.length()));
    String fraction = digits == 0 ? "" : "." + padded.substring(1, digits + 1);
    return "%s%s%se%s%02d"
        .formatted(
            rounded.signum() < 0 ? "-" : "",
            padded.charAt(0),
            fraction,
            exponent < 0 ? "-" : "+",
            Math.abs(exponent));
  }

  private String general(double value) {
    if (special(value) || value == 0) {
      return special(value) ? PythonText.number(value) : "0";
    }
    int significant = Math.max(1, digits());
    var rounded = new BigDecimal(value).round(new MathContext(significant, RoundingMode.HALF_EVEN));
    int exponent = rounded.precision() - rounded.scale() - 1;
    if (exponent >= -4 && exponent < significant) {
      return rounded.stripTrailingZeros().toPlainString();
    }
    int fractionDigits = rounded.stripTrailingZeros().precision() - 1;
    return exponential(value, fractionDigits);
  }

  private String text(String text, RenderBudget budget) {
    boolean cut = precision >= 0 && text.codePointCount(0, text.length()) > precision;
    String shown = cut ? text.substring(0, text.offsetByCodePoints(0, precision)) : text;
    return pad(shown, width, fill, alignment == 0 || alignment == '=' ? '<' : alignment, budget);
  }

  private String number(String plain, RenderBudget budget) {
    boolean negative = plain.startsWith("-");
    String digits = negative ? plain.substring(1) : plain;
    if (grouped) {
      digits = grouped(digits);
    }
    String shown = negative ? "-" : sign;
    if (alignment == '=') {
      return shown + pad(digits, width - shown.length(), fill, '>', budget);
    }
    return pad(shown + digits, width, fill, alignment == 0 ? '>' : alignment, budget);
  }

  private static String grouped(String digits) {
    int point = digits.indexOf('.') < 0 ? digits.length() : digits.indexOf('.');
    var out = new StringBuilder(digits);
    for (int at = point - 3; at > 0; at -= 3) {
      out.insert(at, ',');
    }
    return out.toString();
  }

  static String pad(String text, long width, String fill, char alignment, RenderBudget budget) {
    long missing = Math.max(0, width - text.codePointCount(0, text.length()));
    long before =
        switch (alignment) {
          case '<' -> 0;
          case '^' -> missing / 2;
          default -> missing;
        };
    return budget.repeat(fill, before) + text + budget.repeat(fill, missing - before);
  }
}
