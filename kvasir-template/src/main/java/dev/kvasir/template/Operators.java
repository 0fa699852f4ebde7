package dev.kvasir.template;

import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Markup;
import dev.kvasir.template.PythonValues.Sequence;
import dev.kvasir.template.PythonValues.Undefined;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleBinaryOperator;
import java.util.function.LongBinaryOperator;

/** Python's operators. */
final class Operators {
  private Operators() {}

  /** The arithmetic operators on numbers, strings and lists. */
  enum Arithmetic {
    ADD("+"),
    SUBTRACT("-"),
    MULTIPLY("*"),
    DIVIDE("/"),
    FLOOR_DIVIDE("//"),
    REMAINDER("%"),
    POWER("**");

    private final String symbol;

    Arithmetic(String symbol) {
      this.symbol = symbol;
    }

    static Arithmetic of(Object symbol) {
      for (Arithmetic operator : values()) {
        if (operator.symbol.equals(symbol)) {
          return operator;
        }
      }
      throw new IllegalArgumentException("no arithmetic operator: " + symbol);
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
              numbers(
                  a, b, (x, y) -> Math.floorDivExact(x, y), (x, y) -> Math.floor(x / nonZero(y)));
          case REMAINDER ->
              Markup.plain(a) instanceof String format
                  ? StringFormat.percent(format, Markup.plain(b), budget)
                  : numbers(a, b, Math::floorMod, Arithmetic::remainder);
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

    private Object numbers(
        Object a, Object b, LongBinaryOperator whole, DoubleBinaryOperator real) {
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

  /** A comparison with its symbol, and its names as a test. */
  enum Relation {
    EQUAL("==", "eq", "equalto"),
    UNEQUAL("!=", "ne"),
    LESS("<", "lt", "lessthan"),
    LESS_EQUAL("<=", "le"),
    GREATER(">", "gt", "greaterthan"),
    GREATER_EQUAL(">=", "ge"),
    IN("in"),
    NOT_IN("not in");

    final List<String> names;

    Relation(String... names) {
      this.names = List.of(names);
    }

    /** Returns the relation of a name or a symbol, or null if there is none. */
    static Relation of(Object name) {
      for (Relation relation : values()) {
        if (relation.names.contains(name)) {
          return relation;
        }
      }
      return null;
    }

    boolean holds(Object left, Object right) {
      return switch (this) {
        case EQUAL -> equal(left, right);
        case UNEQUAL -> !equal(left, right);
        case LESS -> compare(left, right) < 0;
        case LESS_EQUAL -> compare(left, right) <= 0;
        case GREATER -> compare(left, right) > 0;
        case GREATER_EQUAL -> compare(left, right) >= 0;
        case IN -> contains(right, left);
        case NOT_IN -> !contains(right, left);
      };
    }
  }

  static boolean equal(Object left, Object right) {
    return new Comparison().equal(left, right, 0);
  }

  /** Returns a negative number, zero or a positive number; unordered values are an error. */
  static int compare(Object left, Object right) {
    return new Comparison().compare(left, right, 0);
  }

  static boolean contains(Object container, Object value) {
    return switch (Markup.plain(container)) {
      case String text -> {
        if (!(Markup.plain(value) instanceof String part)) {
          throw EvaluationException.expected("'in' looks for a string in a string", value);
        }
        yield text.contains(part);
      }
      case Sequence sequence -> {
        for (Object element : sequence.iterate()) {
          if (equal(element, value)) {
            yield true;
          }
        }
        yield false;
      }
      case Dict dict -> dict.contains(value);
      case Undefined _ -> false;
      case null, default ->
          throw EvaluationException.expected("'in' needs a string, list or dict", container);
    };
  }

  /** Traverses two values. */
  private static final class Comparison {
    /** With shared elements, comparing two small lists can take exponential time. */
    private static final int MAX_PAIRS = 10_000_000;

    private int pairs;

    private boolean equal(Object left, Object right, int depth) {
      int deeper = RenderBudget.checkDepth(depth);
      if (++pairs > MAX_PAIRS) {
        throw new EvaluationException("a comparison of more than " + MAX_PAIRS + " elements");
      }
      Object a = asNumber(Markup.plain(left));
      Object b = asNumber(Markup.plain(right));
      return switch (a) {
        case null -> b == null;
        case Undefined _ -> b instanceof Undefined;
        case Long x when b instanceof Double y -> x.doubleValue() == y;
        case Double x when b instanceof Long y -> x == y.doubleValue();
        case Double x when b instanceof Double y -> x.doubleValue() == y.doubleValue();
        case Sequence x when b instanceof Sequence y -> equal(x, y, deeper);
        case Dict x when b instanceof Dict y -> x == y || equal(x, y, deeper);
        case Object x -> x.equals(b);
      };
    }

    private boolean equal(Sequence left, Sequence right, int depth) {
      if (left.sameAs(right)) {
        return true;
      }
      if (left.kind() != right.kind() || left.elements().size() != right.elements().size()) {
        return false;
      }
      for (int i = 0; i < left.elements().size(); i++) {
        if (!equal(left.elements().get(i), right.elements().get(i), depth)) {
          return false;
        }
      }
      return true;
    }

    private boolean equal(Dict left, Dict right, int depth) {
      if (left.size() != right.size()) {
        return false;
      }
      for (var entry : left.entries()) {
        if (!right.contains(entry.key())
            || !equal(entry.value(), right.find(entry.key(), null), depth)) {
          return false;
        }
      }
      return true;
    }

    private int compare(Object left, Object right, int depth) {
      int deeper = RenderBudget.checkDepth(depth);
      Object a = asNumber(Markup.plain(left));
      Object b = asNumber(Markup.plain(right));
      return switch (a) {
        case Long x when b instanceof Long y -> Long.compare(x, y);
        case Long x when b instanceof Double y -> Double.compare(x.doubleValue(), y);
        case Double x when b instanceof Long y -> Double.compare(x, y.doubleValue());
        case Double x when b instanceof Double y -> Double.compare(x, y);
        case String x when b instanceof String y -> compare(x, y);
        case Sequence x
            when b instanceof Sequence y && x.kind() == y.kind() && x.kind().indexed() ->
            compare(x.elements(), y.elements(), deeper);
        case Undefined undefined -> throw undefined.misused();
        case null, default -> {
          if (b instanceof Undefined undefined) {
            throw undefined.misused();
          }
          throw new EvaluationException(
              "values of type %s and %s have no order"
                  .formatted(PythonValues.typeName(left), PythonValues.typeName(right)));
        }
      };
    }

    private int compare(List<Object> left, List<Object> right, int depth) {
      for (int i = 0; i < Math.min(left.size(), right.size()); i++) {
        if (!equal(left.get(i), right.get(i), depth)) {
          return compare(left.get(i), right.get(i), depth);
        }
      }
      return Integer.compare(left.size(), right.size());
    }

    /** Compares by code point, which differs from Java's order above the basic plane. */
    private static int compare(String left, String right) {
      int same = 0;
      int shorter = Math.min(left.length(), right.length());
      while (same < shorter && left.charAt(same) == right.charAt(same)) {
        same++;
      }
      if (same == shorter) {
        return Integer.compare(left.length(), right.length());
      }
      if (same > 0 && Character.isHighSurrogate(left.charAt(same - 1))) {
        same--;
      }
      return Integer.compare(left.codePointAt(same), right.codePointAt(same));
    }

    private static Object asNumber(Object value) {
      return value instanceof Boolean truth ? (Object) (truth ? 1L : 0L) : value;
    }
  }
}
