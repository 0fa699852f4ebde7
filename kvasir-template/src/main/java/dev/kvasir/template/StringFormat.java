package dev.kvasir.template;

import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Sequence;
import dev.kvasir.template.PythonValues.Undefined;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Implements {@code 'pattern' % values} and {@code 'pattern'.format(values)}. */
final class StringFormat {
  /** Groups: the key, flags, width, precision and type. */
  private static final Pattern DIRECTIVE =
      Pattern.compile("%(?:\\(([^)]*)\\))?([-0# +]*)([0-9]*)(?:\\.([0-9]*))?(.?)", Pattern.DOTALL);

  private static final Pattern FIELD = Pattern.compile("\\{\\{|\\}\\}|\\{([^{}]*)\\}|[{}]");
  private static final Pattern INDEX = Pattern.compile("[0-9]{1,9}");
  private static final Pattern NAME = Pattern.compile("\\w*", Pattern.UNICODE_CHARACTER_CLASS);

  private static final int MAX_PRECISION = 400;

  private StringFormat() {}

  /** Formats with {@code %}; the values are a tuple, a dict or a single value. */
  static String percent(String pattern, Object values, RenderBudget budget) {
    List<Object> given =
        values instanceof Sequence tuple && tuple.kind() == Sequence.Kind.TUPLE
            ? tuple.elements()
            : Collections.singletonList(values);
    var out = new StringBuilder();
    int copied = 0;
    int used = 0;
    for (Matcher found = DIRECTIVE.matcher(pattern); found.find(); copied = found.end()) {
      out.append(pattern, copied, found.start());
      if (found.group().equals("%%")) {
        out.append('%');
        continue;
      }
      String key = found.group(1);
      Object value = key == null ? positional(given, used++) : named(values, key);
      out.append(directive(found, value, budget));
      budget.chargeText(out.length());
    }
    if (!(values instanceof Dict) && used < given.size()) {
      throw new EvaluationException(
          "a format of %d values was given %d".formatted(used, given.size()));
    }
    return budget.produced(out.append(pattern, copied, pattern.length()).toString());
  }

  private static Object positional(List<Object> values, int index) {
    if (index >= values.size()) {
      throw new EvaluationException(
          "a format of more values than the %d given".formatted(values.size()));
    }
    return values.get(index);
  }

  private static Object named(Object values, String key) {
    if (!(values instanceof Dict dict)) {
      throw new EvaluationException("a format with names needs a dict");
    }
    if (!dict.contains(key)) {
      throw new EvaluationException("a format names '" + key + "', which was not given");
    }
    return dict.find(key, null);
  }

  private static String directive(Matcher found, Object value, RenderBudget budget) {
    String flags = found.group(2);
    long width = number(found.group(3));
    int precision = found.group(4) == null ? -1 : number(found.group(4));
    char alignment = flags.contains("-") ? '<' : '>';
    String text =
        switch (found.group(5)) {
          case "s" -> cut(PythonText.str(value), precision);
          case "r", "a" -> cut(PythonText.repr(value), precision);
          case "d", "i", "u" -> signed(Long.toString(whole(value)), flags);
          case "x" -> signed(Long.toString(whole(value), 16), flags);
          case "f", "F" -> signed(fixed(value, precision < 0 ? 6 : precision), flags);
          case String type ->
              throw new EvaluationException(
                  "the unsupported format '%%%s'; supported are s r d x f".formatted(type));
        };
    boolean textual = "sra".contains(found.group(5));
    if (alignment == '<' || textual || !flags.contains("0")) {
      return PythonStrings.pad(text, width, " ", alignment, budget);
    }
    String sign = "+- ".indexOf(text.charAt(0)) >= 0 ? text.substring(0, 1) : "";
    String digits = text.substring(sign.length());
    return sign + PythonStrings.pad(digits, width - sign.length(), "0", '>', budget);
  }

  private static int number(String digits) {
    return digits.isEmpty()
        ? 0
        : digits.length() > 9 ? Integer.MAX_VALUE : Integer.parseInt(digits);
  }

  private static String cut(String text, int precision) {
    return precision >= 0 && text.codePointCount(0, text.length()) > precision
        ? text.substring(0, text.offsetByCodePoints(0, precision))
        : text;
  }

  private static String signed(String number, String flags) {
    String plus = flags.contains("+") ? "+" : flags.contains(" ") ? " " : "";
    return number.startsWith("-") ? number : plus + number;
  }

  private static long whole(Object value) {
    return switch (value) {
      case Long number -> number;
      case Boolean truth -> truth ? 1 : 0;
      case Double number when Math.abs(number) < Long.MAX_VALUE -> number.longValue();
      case Undefined undefined -> throw undefined.misused();
      case null, default ->
          throw new EvaluationException(
              "a number format of a value of type " + PythonValues.typeName(value));
    };
  }

  private static String fixed(Object value, int precision) {
    if (precision > MAX_PRECISION) {
      throw new EvaluationException("a format precision of more than " + MAX_PRECISION);
    }
    double number = value instanceof Double real ? real : whole(value);
    return Double.isFinite(number)
        ? new BigDecimal(number).setScale(precision, RoundingMode.HALF_EVEN).toPlainString()
        : PythonText.number(number);
  }

  /**
   * Formats with braces. A field is empty, an index or a name: no published template uses
   * conversions, attributes or format specifications.
   */
  static String braces(String pattern, Arguments arguments) {
    var out = new StringBuilder();
    int copied = 0;
    int used = 0;
    for (Matcher found = FIELD.matcher(pattern); found.find(); copied = found.end()) {
      out.append(pattern, copied, found.start());
      String field = found.group(1);
      if (field != null) {
        Object value =
            field.isEmpty() ? positional(arguments.positional(), used++) : field(field, arguments);
        out.append(PythonText.str(value));
      } else if (found.group().length() == 2) {
        out.append(found.group(), 0, 1);
      } else {
        throw new EvaluationException("a single '" + found.group() + "' in a format");
      }
      arguments.budget().chargeText(out.length());
    }
    return arguments.budget().produced(out.append(pattern, copied, pattern.length()).toString());
  }

  private static Object field(String field, Arguments arguments) {
    if (INDEX.matcher(field).matches()) {
      return positional(arguments.positional(), Integer.parseInt(field));
    }
    if (!NAME.matcher(field).matches()) {
      throw new EvaluationException(
          "the unsupported format field '{" + field + "}'; an index or a name is supported");
    }
    return named(Dict.of(arguments.named()), field);
  }
}
