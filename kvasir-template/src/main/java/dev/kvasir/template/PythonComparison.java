package dev.kvasir.template;

import java.util.List;

/** Python's {@code ==}, {@code <} and {@code in}. */
final class PythonComparison {
  /** With shared elements, comparing two small lists can take exponential time. */
  private static final int MAX_PAIRS = 10_000_000;

  private int pairs;

  private PythonComparison() {}

  static boolean equal(Object left, Object right) {
    return new PythonComparison().equal(left, right, 0);
  }

  private boolean equal(Object left, Object right, int depth) {
    int deeper = RenderBudget.checkDepth(depth);
    if (++pairs > MAX_PAIRS) {
      throw new EvaluationException("a comparison of more than " + MAX_PAIRS + " elements");
    }
    Object a = number(Markup.plain(left));
    Object b = number(Markup.plain(right));
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

  /** Returns a negative number, zero or a positive number; unordered values are an error. */
  static int compare(Object left, Object right) {
    return new PythonComparison().compare(left, right, 0);
  }

  private int compare(Object left, Object right, int depth) {
    int deeper = RenderBudget.checkDepth(depth);
    Object a = number(Markup.plain(left));
    Object b = number(Markup.plain(right));
    return switch (a) {
      case Long x when b instanceof Long y -> Long.compare(x, y);
      case Long x when b instanceof Double y -> Double.compare(x.doubleValue(), y);
      case Double x when b instanceof Long y -> Double.compare(x, y.doubleValue());
      case Double x when b instanceof Double y -> Double.compare(x, y);
      case String x when b instanceof String y -> compare(x, y);
      case Sequence x when b instanceof Sequence y && x.kind() == y.kind() && x.kind().indexed() ->
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

  static boolean contains(Object container, Object value) {
    return switch (Markup.plain(container)) {
      case String text -> {
        if (!(Markup.plain(value) instanceof String part)) {
          throw new EvaluationException(
              "'in' looks for a string in a string, found " + PythonValues.typeName(value));
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
          throw new EvaluationException(
              "'in' needs a string, list or dict, found " + PythonValues.typeName(container));
    };
  }

  private static Object number(Object value) {
    return value instanceof Boolean truth ? (Object) (truth ? 1L : 0L) : value;
  }
}
