package dev.kvasir.template;

import dev.kvasir.template.Expression.Relation;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.function.Predicate;

/** The tests by name: {@code value is test(argument)}. */
final class Tests {
  private static final Map<String, Predicate<Object>> ALONE = new HashMap<>();
  private static final Map<String, BiPredicate<Object, Object>> WITH_ARGUMENT = new HashMap<>();

  static {
    ALONE.put("defined", value -> !(value instanceof Undefined));
    ALONE.put("undefined", value -> value instanceof Undefined);
    ALONE.put("none", value -> value == null);
    ALONE.put("string", value -> value instanceof String);
    ALONE.put("number", value -> integer(value) || value instanceof Double || bool(value));
    ALONE.put("integer", Tests::integer);
    ALONE.put("float", value -> value instanceof Double);
    ALONE.put("boolean", Tests::bool);
    ALONE.put("true", value -> Boolean.TRUE.equals(value));
    ALONE.put("false", value -> Boolean.FALSE.equals(value));
    ALONE.put("mapping", value -> value instanceof Dict);
    ALONE.put("sequence", Tests::sequence);
    ALONE.put("iterable", Values::iterable);
    ALONE.put("callable", value -> value instanceof Callable);
    ALONE.put("even", value -> remainder(value, 2L) == 0);
    ALONE.put("odd", value -> remainder(value, 2L) == 1);
    ALONE.put("lower", value -> cased(value, PythonText.str(value).toLowerCase(Locale.ROOT)));
    ALONE.put("upper", value -> cased(value, PythonText.str(value).toUpperCase(Locale.ROOT)));
    ALONE.put("filter", value -> value instanceof String name && Filters.known(name));
    ALONE.put("test", value -> value instanceof String name && known(name));
    WITH_ARGUMENT.put("divisibleby", (value, by) -> remainder(value, by) == 0);
    WITH_ARGUMENT.put("in", Relation.IN::holds);
    WITH_ARGUMENT.put("sameas", Tests::same);
    relation(Relation.EQUAL, "==", "eq", "equalto");
    relation(Relation.UNEQUAL, "!=", "ne");
    relation(Relation.LESS, "<", "lt", "lessthan");
    relation(Relation.LESS_EQUAL, "<=", "le");
    relation(Relation.GREATER, ">", "gt", "greaterthan");
    relation(Relation.GREATER_EQUAL, ">=", "ge");
  }

  private Tests() {}

  private static void relation(Relation relation, String... names) {
    for (String name : names) {
      WITH_ARGUMENT.put(name, relation::holds);
    }
  }

  static boolean known(String name) {
    return ALONE.containsKey(name) || WITH_ARGUMENT.containsKey(name);
  }

  static String unknown(String name) {
    var names = new TreeSet<>(ALONE.keySet());
    names.addAll(WITH_ARGUMENT.keySet());
    return "the unsupported test '%s'; supported are %s".formatted(name, String.join(", ", names));
  }

  static boolean apply(String name, Object value, Arguments arguments) {
    if (ALONE.containsKey(name)) {
      arguments.bind("the test " + name);
      return ALONE.get(name).test(value);
    }
    if (!WITH_ARGUMENT.containsKey(name)) {
      throw new Fault(unknown(name));
    }
    Object argument = arguments.bind("the test " + name, "value").value(0);
    return WITH_ARGUMENT.get(name).test(value, argument);
  }

  private static boolean integer(Object value) {
    return value instanceof Long || value instanceof BigInteger;
  }

  private static boolean bool(Object value) {
    return value instanceof Boolean;
  }

  /** What has a length and items: in Jinja that includes strings, dictionaries and undefined. */
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
      throw new Fault(
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
