package dev.kvasir.template;

import dev.kvasir.template.Renderer.Loop;
import dev.kvasir.template.Renderer.Macro;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
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

  /** An ordered sequence of values with its Python type. */
  record Sequence(Kind kind, List<Object> elements) {
    enum Kind {
      LIST("list"),
      TUPLE("tuple"),
      RANGE("range"),
      KEYS("dict_keys"),
      VALUES("dict_values"),
      ITEMS("dict_items"),
      /**
       * The result of a lazy filter: always true, without a length, and empty after one iteration.
       */
      GENERATOR("generator");

      final String pythonName;

      Kind(String python) {
        this.pythonName = python;
      }

      boolean indexed() {
        return this == LIST || this == TUPLE || this == RANGE;
      }
    }

    static Sequence list(List<Object> elements) {
      return new Sequence(Kind.LIST, elements);
    }

    static Sequence tuple(Object... elements) {
      return new Sequence(Kind.TUPLE, new ArrayList<>(Arrays.asList(elements)));
    }

    static Sequence generator(List<Object> elements) {
      return new Sequence(Kind.GENERATOR, elements);
    }

    /** Returns the elements of one iteration. */
    List<Object> iterate() {
      var walked = new ArrayList<>(elements);
      if (kind == Kind.GENERATOR) {
        elements.clear();
      }
      return walked;
    }

    /** Returns whether two lists are the same object, as in Python's {@code is}. */
    boolean sameAs(Sequence other) {
      return elements == other.elements;
    }
  }

  /**
   * A Python dictionary: insertion-ordered, and {@code 1}, {@code 1.0} and {@code True} are one
   * key.
   */
  static final class Dict {
    record Entry(Object key, Object value) {}

    private enum None {
      KEY
    }

    private final Map<Object, Entry> entries = new LinkedHashMap<>();

    static Dict of(Map<String, Object> named) {
      var dict = new Dict();
      named.forEach(dict::put);
      return dict;
    }

    int size() {
      return entries.size();
    }

    boolean contains(Object key) {
      return entries.containsKey(hashed(key));
    }

    Object find(Object key, Object fallback) {
      var entry = entries.get(hashed(key));
      return entry == null ? fallback : entry.value;
    }

    void put(Object key, Object value) {
      entries.compute(
          hashed(key), (_, old) -> new Entry(old == null ? key : old.key, Markup.plain(value)));
    }

    /** Adds dictionaries or lists of pairs, and named values. */
    void update(Arguments arguments) {
      arguments.positional().forEach(from -> putAll(from, arguments.budget()));
      arguments.named().forEach(this::put);
    }

    void putAll(Object from, RenderBudget budget) {
      if (from instanceof Dict other) {
        budget.chargeElements(other.size());
        other.entries().forEach(entry -> put(entry.key, entry.value));
        return;
      }
      for (Object element : PythonValues.iterate(from, budget)) {
        List<Object> pair = PythonValues.iterate(element, budget);
        if (pair.size() != 2) {
          throw new EvaluationException(
              "a dict is made of pairs, found an element of " + pair.size());
        }
        put(pair.getFirst(), pair.getLast());
      }
    }

    Object remove(Object key, Object fallback) {
      var entry = entries.remove(hashed(key));
      return entry == null ? fallback : entry.value;
    }

    List<Entry> entries() {
      return List.copyOf(entries.values());
    }

    List<Object> keys() {
      return new ArrayList<>(entries.values().stream().map(Entry::key).toList());
    }

    List<Object> values() {
      return new ArrayList<>(entries.values().stream().map(Entry::value).toList());
    }

    List<Object> items() {
      var items = new ArrayList<>(entries.size());
      entries.values().forEach(entry -> items.add(Sequence.tuple(entry.key, entry.value)));
      return items;
    }

    private static Object hashed(Object key) {
      return switch (Markup.plain(key)) {
        case null -> None.KEY;
        case Boolean truth -> truth ? 1L : 0L;
        case Double number when number == Math.rint(number) && Math.abs(number) < 1L << 53 ->
            number.longValue();
        case Sequence tuple when tuple.kind() == Sequence.Kind.TUPLE ->
            tuple.elements().stream().map(Dict::hashed).toList();
        case Sequence _, Dict _ ->
            throw EvaluationException.ofType(key, "cannot be a dictionary key");
        case Object other -> other;
      };
    }
  }

  /**
   * The result of {@code namespace(...)}: the only object with attributes that {@code set} can
   * change.
   */
  record Namespace(Dict attributes) {}

  /** A value that a template may call: a global function, a bound method or a macro. */
  @FunctionalInterface
  interface Callable {
    Object call(Arguments arguments);
  }

  /**
   * A missing name, attribute or item. It prints as nothing, is false and iterates as empty; every
   * other use is an error with the reason {@code what}.
   */
  record Undefined(String what) {
    static Undefined name(String name) {
      return new Undefined("'" + name + "' is undefined");
    }

    static Undefined member(Object owner, String member) {
      return new Undefined("a value of type " + typeName(owner) + " has no " + member);
    }

    EvaluationException misused() {
      return new EvaluationException(what);
    }
  }

  /**
   * Text marked as safe HTML. Python templates create it inadvertently: {@code 'a'|safe + b}
   * escapes {@code b} even though escaping is off, and published prompts depend on that. It only
   * occurs in variables and as an operand of {@code +}; elsewhere it is a string.
   */
  record Markup(String text) {
    static Object plain(Object value) {
      return value instanceof Markup markup ? markup.text : value;
    }

    static String escape(String text) {
      return text.replace("&", "&amp;")
          .replace(">", "&gt;")
          .replace("<", "&lt;")
          .replace("'", "&#39;")
          .replace("\"", "&#34;");
    }
  }

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

  /** Returns the elements that a {@code for} loop visits, in a list of the caller's. */
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
      case Undefined _ -> new ArrayList<>();
      case null, default -> throw EvaluationException.ofType(value, "cannot be iterated");
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
      case null, default -> throw EvaluationException.ofType(value, "has no length");
    };
  }
}
