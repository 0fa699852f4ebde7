package dev.kvasir.template;

import java.util.ArrayList;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;

/** Python's arithmetic operators on numbers, strings and lists. */
enum ArithmeticOperator {
  ADD("+"),
  SUBTRACT("-"),
  MULTIPLY("*"),
  DIVIDE("/"),
  FLOOR_DIVIDE("//"),
  REMAINDER("%"),
  POWER("**");

  private final String symbol;

  ArithmeticOperator(String symbol) {
    this.symbol = symbol;
  }

  Object apply(Object left, Object right, RenderBudget budget) {
    Object a = operand(left);
    Object b = operand(right);
    try {
      return switch (this) {
        case ADD -> add(a, b, budget);
        case SUBTRACT -> numbers(a, b, Math::subtractExact, (x, y) -> x - y);
        case MULTIPLY -> multiply(a, b, budget);
        case DIVIDE -> numbers(a, b, null, (x, y) -> x / nonZero(y));
        case FLOOR_DIVIDE ->
            numbers(a, b, (x, y) -> Math.floorDivExact(x, y), (x, y) -> Math.floor(x / nonZero(y)));
        case REMAINDER ->
            Markup.plain(a) instanceof String format
                ? PercentFormat.format(format, Markup.plain(b), budget)
                : numbers(a, b, Math::floorMod, ArithmeticOperator::remainder);
        case POWER -> power(a, b);
      };
    } catch (ArithmeticException e) {
      boolean byZero = b instanceof Long number && number == 0;
      throw new EvaluationException(
          byZero ? "division by zero" : "an integer of more than 64 bits");
    }
  }

  static Object negate(Object value, RenderBudget budget) {
    return value instanceof Double number ? -number : SUBTRACT.apply(0L, value, budget);
  }

  private static Object operand(Object value) {
    return switch (value) {
      case Undefined undefined -> throw undefined.misused();
      case Boolean truth -> truth ? 1L : 0L;
      case null, default -> value;
    };
  }

  private Object add(Object a, Object b, RenderBudget budget) {
    if (a instanceof Markup || b instanceof Markup) {
      return new Markup(budget.produced(escaped(a, b) + escaped(b, a)));
    }
    if (a instanceof String x && b instanceof String y) {
      budget.chargeText((long) x.length() + y.length());
      return x + y;
    }
    if (a instanceof Sequence x
        && b instanceof Sequence y
        && x.kind() == y.kind()
        && (x.kind() == Sequence.Kind.LIST || x.kind() == Sequence.Kind.TUPLE)) {
      budget.chargeElements((long) x.elements().size() + y.elements().size());
      var joined = new ArrayList<>(x.elements());
      joined.addAll(y.elements());
      return new Sequence(x.kind(), joined);
    }
    return numbers(a, b, Math::addExact, Double::sum);
  }

  private String escaped(Object value, Object other) {
    return switch (value) {
      case Markup markup -> markup.text();
      case String text -> Markup.escape(text);
      case null, default -> throw refused(value, other);
    };
  }

  private Object multiply(Object a, Object b, RenderBudget budget) {
    Object many = a instanceof Long ? b : a;
    if ((a instanceof Long ? a : b) instanceof Long times) {
      if (Markup.plain(many) instanceof String text) {
        return budget.repeat(text, times);
      }
      if (many instanceof Sequence sequence && sequence.kind().indexed()) {
        int size = sequence.elements().size();
        long count = size == 0 ? 0 : Math.max(0, times);
        budget.chargeElements(count > RenderBudget.MAX_TEXT ? count : count * size);
        var repeated = new ArrayList<>();
        for (long i = 0; i < count; i++) {
          repeated.addAll(sequence.elements());
        }
        return new Sequence(sequence.kind(), repeated);
      }
    }
    return numbers(a, b, Math::multiplyExact, (x, y) -> x * y);
  }

  private Object power(Object a, Object b) {
    if (a instanceof Long base && b instanceof Long exponent && exponent >= 0) {
      return base == 0 || base == 1 || base == -1
          ? (Object) (long) Math.pow(base, exponent)
          : (Object) Math.powExact((long) base, (int) Math.min(exponent, Long.SIZE));
    }
    return numbers(a, b, null, Math::pow);
  }

  private Object numbers(Object a, Object b, LongBinaryOperator whole, DoubleBinaryOperator real) {
    if (whole != null && a instanceof Long x && b instanceof Long y) {
      return whole.applyAsLong(x, y);
    }
    if (isNumber(a) && isNumber(b)) {
      return real.applyAsDouble(((Number) a).doubleValue(), ((Number) b).doubleValue());
    }
    throw refused(a, b);
  }

  private static boolean isNumber(Object value) {
    return value instanceof Long || value instanceof Double;
  }

  private static double nonZero(double divisor) {
    if (divisor == 0) {
      throw new EvaluationException("division by zero");
    }
    return divisor;
  }

  private static double remainder(double a, double b) {
    double remainder = a % nonZero(b);
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
  }

  private EvaluationException refused(Object a, Object b) {
    return new EvaluationException(
        "'%s' does not work on values of type %s and %s"
            .formatted(symbol, PythonValues.typeName(a), PythonValues.typeName(b)));
  }
}
