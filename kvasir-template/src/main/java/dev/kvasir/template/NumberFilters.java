package dev.kvasir.template;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Map;

/** Filters that return a number. */
final class NumberFilters {
  static final Map<String, Filter> TABLE =
      Map.of(
          "int", NumberFilters::integer,
          "float", NumberFilters::real,
          "abs", NumberFilters::absolute,
          "round", NumberFilters::round,
          "length", NumberFilters::length,
          "count", NumberFilters::length);

  private NumberFilters() {}

  private static Object length(Object value, Arguments arguments, RenderBudget budget) {
    arguments.bind("length");
    return PythonValues.length(value);
  }

  private static Object integer(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("int", "default", "base");
    Object fallback = bound.value(0, 0L);
    return switch (value) {
      case Boolean truth -> truth ? 1L : 0L;
      case Long number -> number;
      case Double number when Math.abs(number) < Long.MAX_VALUE -> number.longValue();
      case String text -> {
        Long whole = parse(text, bound.integer(1, 10));
        Double number = whole == null ? parse(text) : null;
        boolean fits = number != null && Math.abs(number) < Long.MAX_VALUE;
        yield whole != null ? whole : fits ? (Object) number.longValue() : fallback;
      }
      case Undefined undefined -> throw undefined.misused();
      case null, default -> fallback;
    };
  }

  private static Long parse(String text, long base) {
    String digits = Whitespace.strip(text, Whitespace::is).replace("_", "");
    int radix = Math.clamp(base, Character.MIN_RADIX, Character.MAX_RADIX);
    String prefix = radix == 16 ? "0x" : radix == 8 ? "0o" : radix == 2 ? "0b" : null;
    if (prefix != null && digits.regionMatches(true, 0, prefix, 0, 2)) {
      digits = digits.substring(2);
    }
    try {
      return digits.length() > Long.SIZE + 1
          ? null
          : (Long) new BigInteger(digits, radix).longValueExact();
    } catch (ArithmeticException | NumberFormatException _) {
      return null;
    }
  }

  private static Object real(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("float", "default");
    Object fallback = bound.value(0, 0.0);
    return switch (value) {
      case Boolean truth -> truth ? 1.0 : 0.0;
      case Long number -> number.doubleValue();
      case Double number -> number;
      case String text -> {
        Double number = parse(text);
        yield number == null ? fallback : number;
      }
      case Undefined undefined -> throw undefined.misused();
      case null, default -> fallback;
    };
  }

  private static Double parse(String text) {
    String number = Whitespace.strip(text, Whitespace::is).replace("_", "");
    // Java also parses hexadecimal floats and the suffixes d and f.
    boolean decimal = number.chars().allMatch(c -> c >= '0' && c <= '9' || "+-.eE".indexOf(c) >= 0);
    try {
      return decimal ? Double.valueOf(number) : null;
    } catch (NumberFormatException _) {
      return null;
    }
  }

  private static Object absolute(Object value, Arguments arguments, RenderBudget budget) {
    arguments.bind("abs");
    return switch (value) {
      case Double number -> (Object) Math.abs(number);
      case Boolean truth -> truth ? 1L : 0L;
      case Long number when number >= 0 -> number;
      case null, default -> ArithmeticOperator.negate(value, budget);
    };
  }

  private static Object round(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("round", "precision", "method");
    long precision = bound.integer(0, 0);
    if (Math.abs(precision) > 400) {
      throw new EvaluationException(
          "round expects a precision of at most 400 digits, found " + precision);
    }
    RoundingMode mode =
        switch (bound.text(1, "common")) {
          case "common" -> RoundingMode.HALF_EVEN;
          case "ceil" -> RoundingMode.CEILING;
          case "floor" -> RoundingMode.FLOOR;
          default ->
              throw new EvaluationException("round supports the methods common, ceil and floor");
        };
    return switch (value) {
      case Long number when precision >= 0 && mode == RoundingMode.HALF_EVEN -> number;
      case Long number -> scaled(BigDecimal.valueOf(number), precision, mode);
      case Boolean truth -> truth ? 1L : 0L;
      case Double number when Double.isNaN(number) || Double.isInfinite(number) -> number;
      case Double number -> scaled(new BigDecimal(number), precision, mode);
      case null, default ->
          throw new EvaluationException(
              "round expects a number, found " + PythonValues.typeName(value));
    };
  }

  private static Double scaled(BigDecimal number, long precision, RoundingMode mode) {
    return number.setScale((int) precision, mode).doubleValue();
  }
}
