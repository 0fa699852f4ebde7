package dev.kvasir.template;

import dev.kvasir.template.Operators.Relation;
import dev.kvasir.template.PythonValues.Callable;
import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Sequence;
import dev.kvasir.template.PythonValues.Undefined;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.function.Predicate;

/** The registry of tests: {@code value is test(argument)}. */
final class Tests {
  private static final Map<String, Predicate<Object>> UNARY = new HashMap<>();
  private static final Map<String, BiPredicate<Object, Object>> BINARY = new HashMap<>();

  static {
    UNARY.put("defined", value -> !(value instanceof Undefined));
    UNARY.put("undefined", value -> value instanceof Undefined);
    UNARY.put("none", value -> value == null);
    UNARY.put("string", value -> value instanceof String);
    UNARY.put("number", value -> integer(value) || value instanceof Double || bool(value));
    UNARY.put("integer", Tests::integer);
    UNARY.put("float", value -> value instanceof Double);
    UNARY.put("boolean", Tests::bool);
    UNARY.put("true", value -> Boolean.TRUE.equals(value));
    UNARY.put("false", value -> Boolean.FALSE.equals(value));
    UNARY.put("mapping", value -> value instanceof Dict);
    UNARY.put("sequence", Tests::sequence);
    UNARY.put("iterable", PythonValues::iterable);
    UNARY.put("callable", value -> value instanceof Callable);
    UNARY.put("even", value -> remainder(value, 2L) == 0);
    UNARY.put("odd", value -> remainder(value, 2L) == 1);
    UNARY.put("lower", value -> cased(value, PythonText.str(value).toLowerCase(Locale.ROOT)));
    UNARY.put("upper", value -> cased(value, PythonText.str(value).toUpperCase(Locale.ROOT)));
    UNARY.put("filter", value -> value instanceof String name && Filters.known(name));
    UNARY.put("test", value -> value instanceof String name && known(name));
    BINARY.put("divisibleby", (value, by) -> remainder(value, by) == 0);
    BINARY.put("sameas", Tests::same);
    for (Relation relation : Relation.values()) {
      if (relation != Relation.NOT_IN) {
        relation.names.forEach(name -> BINARY.put(name, relation::holds));
      }
    }
  }

  private Tests() {}

  static boolean known(String name) {
    return UNARY.containsKey(name) || BINARY.containsKey(name);
  }

  static String unknown(String name) {
    var names = new TreeSet<>(UNARY.keySet());
    names.addAll(BINARY.keySet());
    return "the unsupported test '%s'; supported are %s".formatted(name, String.join(", ", names));
  }

  static boolean apply(String name, Object value, Arguments arguments) {
    if (UNARY.containsKey(name)) {
      arguments.bind("the test " + name);
      return UNARY.get(name).test(value);
    }
    if (!BINARY.containsKey(name)) {
      throw new EvaluationException(unknown(name));
    }
    Object argument = arguments.bind("the test " + name, "value").value(0);
    return BINARY.get(name).test(value, argument);
  }

  private static boolean integer(Object value) {
    return value instanceof Long || value instanceof BigInteger;
  }

  private static boolean bool(Object value) {
    return value instanceof Boolean;
  }

  /** Values with a length and items; in Jinja these include strings, dictionaries and undefined. */
  private static boolean sequence(Object value) {
    return value instanceof Sequence sequence
        ? sequence.kind().indexed()
        : value instanceof String || value instanceof Dict || value instanceof Undefined;
  }

  private static long remainder(Object value, Object by) {
    if (value instanceof Boolean truth) {
      return remainder(truth ? 1L : 0L, by);
    }
    if (!(value instanceof Long number && by instanceof Long divisor && divisor != 0)) {
      throw new EvaluationException(
          "a divisibility test expects integers and no zero divisor, found %s and %s"
              .formatted(PythonText.repr(value), PythonText.repr(by)));
    }
    return Math.floorMod(number, divisor);
  }

  private static boolean cased(Object value, String changed) {
    String text = PythonText.str(value);
    return text.equals(changed) && text.chars().anyMatch(Character::isLetter);
  }

  private static boolean same(Object left, Object right) {
    return left instanceof Sequence a && right instanceof Sequence b
        ? a.sameAs(b)
        : left == right
            || left != null
                && right != null
                && left.getClass() == right.getClass()
                && !(left instanceof Dict)
                && left.equals(right);
  }
}
