package dev.kvasir.template;

import dev.kvasir.template.Arguments.Bound;
import dev.kvasir.template.PythonValues.Callable;
import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Sequence;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;

/**
 * The methods of Python's strings, lists and dictionaries. Positions in strings count code points,
 * not UTF-16 units.
 */
final class Methods {
  /** A method of the Java type that represents a Python type. */
  @FunctionalInterface
  private interface Method<T> extends BiFunction<T, Arguments, Object> {}

  private static final Map<String, Method<String>> STRING =
      Map.ofEntries(
          Map.entry("strip", stripping("strip", PythonStrings::strip)),
          Map.entry("lstrip", stripping("lstrip", PythonStrings::stripStart)),
          Map.entry("rstrip", stripping("rstrip", PythonStrings::stripEnd)),
          Map.entry("split", splitting("split", PythonStrings::split)),
          Map.entry("rsplit", splitting("rsplit", PythonStrings::splitLast)),
          Map.entry("splitlines", Methods::lines),
          Map.entry("startswith", affix("startswith", "prefix", String::startsWith)),
          Map.entry("endswith", affix("endswith", "suffix", String::endsWith)),
          Map.entry("removeprefix", Methods::withoutPrefix),
          Map.entry("removesuffix", Methods::withoutSuffix),
          Map.entry("replace", Methods::replace),
          Map.entry("join", Methods::join),
          Map.entry("format", StringFormat::braces),
          Map.entry("upper", transforming("upper", text -> text.toUpperCase(Locale.ROOT))),
          Map.entry("lower", transforming("lower", text -> text.toLowerCase(Locale.ROOT))),
          Map.entry("title", transforming("title", Methods::title)),
          Map.entry("capitalize", transforming("capitalize", PythonStrings::capitalize)),
          Map.entry("find", (self, arguments) -> find(self, arguments, false)),
          Map.entry("rfind", (self, arguments) -> find(self, arguments, true)),
          Map.entry("count", Methods::count),
          Map.entry("ljust", padding("ljust", '<')),
          Map.entry("rjust", padding("rjust", '>')),
          Map.entry("center", padding("center", '^')),
          Map.entry("zfill", Methods::zeroFill),
          Map.entry("isdigit", predicate("isdigit", Character::isDigit)),
          Map.entry("isalpha", predicate("isalpha", Character::isLetter)),
          Map.entry("isalnum", predicate("isalnum", Character::isLetterOrDigit)),
          Map.entry("isspace", predicate("isspace", PythonStrings::isSpace)));

  private static final Map<String, Method<Sequence>> LIST =
      Map.of(
          "index", Methods::index,
          "append", Methods::append,
          "extend", Methods::extend,
          "insert", Methods::insert,
          "pop", Methods::pop);

  private static final Map<String, Method<Dict>> DICT =
      Map.of(
          "get", Methods::get,
          "keys", (dict, _) -> new Sequence(Sequence.Kind.KEYS, dict.keys()),
          "values", (dict, _) -> new Sequence(Sequence.Kind.VALUES, dict.values()),
          "items", (dict, _) -> new Sequence(Sequence.Kind.ITEMS, dict.items()),
          "copy", Methods::copy,
          "update", Methods::update,
          "pop", Methods::pop,
          "setdefault", Methods::putIfAbsent);

  private Methods() {}

  /** Returns the method {@code name} of {@code target}, or null if its type has none. */
  static Callable bind(Object target, String name) {
    return switch (target) {
      case String text -> bind(STRING, text, name);
      case Dict dict -> bind(DICT, dict, name);
      case Sequence list when list.kind() == Sequence.Kind.LIST -> bind(LIST, list, name);
      case null, default -> null;
    };
  }

  private static <T> Callable bind(Map<String, Method<T>> methods, T self, String name) {
    Method<T> method = methods.get(name);
    return method == null ? null : arguments -> method.apply(self, arguments);
  }

  private interface Strip {
    String strip(String text, IntPredicate drop);
  }

  private interface Split {
    List<Object> split(String text, String separator, long limit);
  }

  private static Method<String> stripping(String name, Strip strip) {
    return (self, arguments) -> {
      String characters = arguments.bind(name, "chars").text(0, null);
      return arguments.budget().produced(strip.strip(self, PythonStrings.members(characters)));
    };
  }

  private static Method<String> splitting(String name, Split split) {
    return (self, arguments) -> {
      Bound bound = arguments.bind(name, "sep", "maxsplit");
      arguments.budget().chargeElements(self.length());
      return Sequence.list(split.split(self, bound.text(0, null), bound.integer(1, -1)));
    };
  }

  private static Method<String> transforming(String name, UnaryOperator<String> change) {
    return (self, arguments) -> {
      arguments.bind(name);
      return arguments.budget().produced(change.apply(self));
    };
  }

  private static Method<String> predicate(String name, IntPredicate question) {
    return (self, arguments) -> {
      arguments.bind(name);
      return !self.isEmpty() && self.codePoints().allMatch(question);
    };
  }

  private static Method<String> padding(String name, char alignment) {
    return (self, arguments) -> {
      Bound bound = arguments.bind(name, "width", "fillchar");
      String fill = bound.text(1, " ");
      return PythonStrings.pad(self, bound.integer(0), fill, alignment, arguments.budget());
    };
  }

  /** The argument is a text or a tuple of choices. */
  private static Method<String> affix(
      String name, String parameter, BiPredicate<String, String> matches) {
    return (self, arguments) -> {
      Bound bound = arguments.bind(name, parameter);
      return bound.value(0) instanceof Sequence choices
          ? choices.elements().stream().anyMatch(each -> matches.test(self, PythonText.str(each)))
          : matches.test(self, bound.text(0));
    };
  }

  private static String title(String text) {
    return PythonStrings.title(text, point -> !Character.isLetter(point));
  }

  private static Object zeroFill(String self, Arguments arguments) {
    long width = arguments.bind("zfill", "width").integer(0);
    String sign = self.startsWith("-") || self.startsWith("+") ? self.substring(0, 1) : "";
    String digits = self.substring(sign.length());
    return sign + PythonStrings.pad(digits, width - sign.length(), "0", '>', arguments.budget());
  }

  private static Object lines(String self, Arguments arguments) {
    boolean keepEnds = arguments.bind("splitlines", "keepends").flag(0, false);
    arguments.budget().chargeElements(self.length());
    return Sequence.list(PythonStrings.lines(self, keepEnds));
  }

  private static Object withoutPrefix(String self, Arguments arguments) {
    String prefix = arguments.bind("removeprefix", "prefix").text(0);
    return self.startsWith(prefix) ? self.substring(prefix.length()) : self;
  }

  private static Object withoutSuffix(String self, Arguments arguments) {
    String suffix = arguments.bind("removesuffix", "suffix").text(0);
    return self.endsWith(suffix) ? self.substring(0, self.length() - suffix.length()) : self;
  }

  private static Object replace(String self, Arguments arguments) {
    Bound bound = arguments.bind("replace", "old", "new", "count");
    return PythonStrings.replace(
        self, bound.text(0), bound.text(1), bound.integer(2, -1), arguments.budget());
  }

  private static Object join(String self, Arguments arguments) {
    List<Object> parts =
        PythonValues.iterate(arguments.bind("join", "iterable").value(0), arguments.budget());
    for (Object part : parts) {
      if (!(part instanceof String)) {
        throw EvaluationException.expected("join expects strings", part);
      }
    }
    return PythonStrings.join(self, parts, arguments.budget());
  }

  private static long find(String self, Arguments arguments, boolean last) {
    Bound bound = arguments.bind("find", "sub", "start");
    long size = self.codePointCount(0, self.length());
    long start = bound.integer(1, 0);
    long skipped = Math.max(0, start < 0 ? start + size : start);
    if (skipped > size) {
      return -1;
    }
    int from = self.offsetByCodePoints(0, (int) skipped);
    int at = last ? self.lastIndexOf(bound.text(0)) : self.indexOf(bound.text(0), from);
    return at < from ? -1 : self.codePointCount(0, at);
  }

  private static Object count(String self, Arguments arguments) {
    String part = arguments.bind("count", "sub").text(0);
    return part.isEmpty()
        ? self.codePointCount(0, self.length()) + 1L
        : PythonStrings.split(self, part, -1).size() - 1L;
  }

  private static Object index(Sequence list, Arguments arguments) {
    Object value = arguments.bind("index", "value").value(0);
    for (int i = 0; i < list.elements().size(); i++) {
      if (Operators.equal(list.elements().get(i), value)) {
        return (long) i;
      }
    }
    throw new EvaluationException("the list does not hold " + PythonText.repr(value));
  }

  private static Object append(Sequence list, Arguments arguments) {
    arguments.budget().chargeElements(1);
    list.elements().add(arguments.bind("append", "object").value(0));
    return null;
  }

  private static Object extend(Sequence list, Arguments arguments) {
    Object more = arguments.bind("extend", "iterable").value(0);
    list.elements().addAll(PythonValues.iterate(more, arguments.budget()));
    return null;
  }

  private static Object insert(Sequence list, Arguments arguments) {
    arguments.budget().chargeElements(1);
    Bound bound = arguments.bind("insert", "index", "object");
    int size = list.elements().size();
    long index = bound.integer(0);
    list.elements().add(Math.clamp(index < 0 ? index + size : index, 0, size), bound.value(1));
    return null;
  }

  private static Object pop(Sequence list, Arguments arguments) {
    int size = list.elements().size();
    long index = arguments.bind("pop", "index").integer(0, -1);
    long at = index < 0 ? index + size : index;
    if (at < 0 || at >= size) {
      throw new EvaluationException("pop of index %d from a list of %d".formatted(index, size));
    }
    return list.elements().remove((int) at);
  }

  private static Object get(Dict dict, Arguments arguments) {
    Bound bound = arguments.bind("get", "key", "default");
    return dict.find(bound.value(0), bound.value(1, null));
  }

  private static Object copy(Dict dict, Arguments arguments) {
    var copy = new Dict();
    copy.putAll(dict, arguments.budget());
    return copy;
  }

  private static Object update(Dict dict, Arguments arguments) {
    dict.update(arguments);
    return null;
  }

  private static Object pop(Dict dict, Arguments arguments) {
    Bound bound = arguments.bind("pop", "key", "default");
    if (!dict.contains(bound.value(0)) && !bound.has(1)) {
      throw new EvaluationException("the dict has no key " + PythonText.repr(bound.value(0)));
    }
    return dict.remove(bound.value(0), bound.value(1, null));
  }

  private static Object putIfAbsent(Dict dict, Arguments arguments) {
    Bound bound = arguments.bind("setdefault", "key", "default");
    if (!dict.contains(bound.value(0))) {
      dict.put(bound.value(0), bound.value(1, null));
    }
    return dict.find(bound.value(0), null);
  }
}
