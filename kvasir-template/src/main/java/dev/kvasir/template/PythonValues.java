package dev.kvasir.template;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The values of templates and Python's operations on them.
 *
 * <p>A value is {@code null} (none), Boolean, Long, Double, String, {@link Sequence}, {@link Dict},
 * {@link Namespace}, {@link Callable}, {@link Loop}, {@link Markup} or {@link Undefined}. A
 * BigInteger can be printed, but arithmetic does not support it.
 */
final class PythonValues {
  private PythonValues() {}

  /** Copies a value of the application, so that a template cannot change it. */
  static Object of(Object value, RenderBudget budget, int depth) {
    budget.step(1);
    int deeper = RenderBudget.checkDepth(depth);
    return switch (value) {
      case null -> null;
      case String _, Boolean _, Long _, Double _ -> value;
      case Character character -> character.toString();
      case Integer _, Short _, Byte _ -> ((Number) value).longValue();
      case Float number -> number.doubleValue();
      case Number number -> parsed(number.toString());
      case Map<?, ?> map -> {
        var dict = new Dict();
        map.forEach((key, item) -> dict.put(of(key, budget, deeper), of(item, budget, deeper)));
        yield dict;
      }
      case Collection<?> list -> {
        var elements = new ArrayList<>(list.size());
        list.forEach(element -> elements.add(of(element, budget, deeper)));
        yield Sequence.list(elements);
      }
      case Object other ->
          throw new EvaluationException(
              "a variable holds a "
                  + other.getClass().getName()
                  + "; strings, booleans, numbers, lists and maps are supported");
    };
  }

  private static Object parsed(String number) {
    try {
      var integer = new BigInteger(number);
      return integer.bitLength() < Long.SIZE ? (Object) integer.longValue() : integer;
    } catch (NumberFormatException _) {
      return Double.valueOf(number);
    }
  }

  static String typeName(Object value) {
    return switch (value) {
      case null -> "none";
      case String _, Markup _ -> "string";
      case Boolean _ -> "boolean";
      case Long _, BigInteger _ -> "integer";
      case Double _ -> "float";
      case Sequence sequence -> sequence.kind().pythonName;
      case Dict _ -> "dict";
      case Namespace _ -> "namespace";
      case Undefined _ -> "undefined";
      case Loop _ -> "loop";
      case Macro _ -> "macro";
      case Object _ -> "function";
    };
  }

  static boolean truth(Object value) {
    return switch (value) {
      case null -> false;
      case Undefined _ -> false;
      case Boolean truth -> truth;
      case Long number -> number != 0;
      case Double number -> number != 0;
      case String text -> !text.isEmpty();
      case Markup markup -> !markup.text().isEmpty();
      case Dict dict -> dict.size() > 0;
      case Sequence sequence ->
          sequence.kind() == Sequence.Kind.GENERATOR || !sequence.elements().isEmpty();
      case Object _ -> true;
    };
  }

  /** Returns the elements that a {@code for} loop visits. */
  static List<Object> iterate(Object value, RenderBudget budget) {
    return switch (Markup.plain(value)) {
      case Sequence sequence -> {
        budget.chargeElements(sequence.elements().size());
        yield sequence.iterate();
      }
      case Dict dict -> {
        budget.chargeElements(dict.size());
        yield dict.keys();
      }
      case String text -> {
        budget.chargeElements(text.length());
        var characters = new ArrayList<Object>(text.length());
        text.codePoints().forEach(point -> characters.add(Character.toString(point)));
        yield characters;
      }
      case Undefined _ -> List.of();
      case null, default ->
          throw new EvaluationException(
              "a value of type " + typeName(value) + " cannot be iterated");
    };
  }

  static boolean iterable(Object value) {
    return value instanceof Sequence
        || value instanceof Dict
        || value instanceof String
        || value instanceof Undefined;
  }

  static long length(Object value) {
    return switch (Markup.plain(value)) {
      case String text -> text.codePointCount(0, text.length());
      case Sequence sequence when sequence.kind() != Sequence.Kind.GENERATOR ->
          sequence.elements().size();
      case Dict dict -> dict.size();
      case Loop loop -> loop.length();
      case Undefined _ -> 0;
      case null, default ->
          throw new EvaluationException("a value of type " + typeName(value) + " has no length");
    };
  }
}
