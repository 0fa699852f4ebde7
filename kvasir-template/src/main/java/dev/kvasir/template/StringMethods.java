package dev.kvasir.template;

import dev.kvasir.template.BuiltinMethods.Method;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;

/** Methods of strings. Positions count code points, not UTF-16 units. */
final class StringMethods {
  static final Map<String, Method<String>> TABLE =
      Map.ofEntries(
          Map.entry("strip", stripping("strip", Whitespace::strip)),
          Map.entry("lstrip", stripping("lstrip", Whitespace::stripStart)),
          Map.entry("rstrip", stripping("rstrip", Whitespace::stripEnd)),
          Map.entry("split", splitting("split", PythonStrings::split)),
          Map.entry("rsplit", splitting("rsplit", PythonStrings::splitLast)),
          Map.entry("splitlines", StringMethods::lines),
          Map.entry("startswith", (self, arguments, _) -> starts(self, arguments)),
          Map.entry("endswith", (self, arguments, _) -> ends(self, arguments)),
          Map.entry("removeprefix", (self, arguments, _) -> withoutPrefix(self, arguments)),
          Map.entry("removesuffix", (self, arguments, _) -> withoutSuffix(self, arguments)),
          Map.entry("replace", StringMethods::replace),
          Map.entry("join", StringMethods::join),
          Map.entry("format", BraceFormat::format),
          Map.entry("upper", transforming("upper", text -> text.toUpperCase(Locale.ROOT))),
          Map.entry("lower", transforming("lower", text -> text.toLowerCase(Locale.ROOT))),
          Map.entry("casefold", transforming("casefold", text -> text.toLowerCase(Locale.ROOT))),
          Map.entry("title", transforming("title", PythonStrings::title)),
          Map.entry("capitalize", transforming("capitalize", PythonStrings::capitalize)),
          Map.entry("find", (self, arguments, _) -> find(self, arguments, false)),
          Map.entry("rfind", (self, arguments, _) -> find(self, arguments, true)),
          Map.entry("index", (self, arguments, _) -> requireIndex(self, arguments, false)),
          Map.entry("rindex", (self, arguments, _) -> requireIndex(self, arguments, true)),
          Map.entry("count", (self, arguments, _) -> count(self, arguments)),
          Map.entry("partition", (self, arguments, _) -> partition(self, arguments, false)),
          Map.entry("rpartition", (self, arguments, _) -> partition(self, arguments, true)),
          Map.entry("ljust", padding("ljust", '<')),
          Map.entry("rjust", padding("rjust", '>')),
          Map.entry("center", padding("center", '^')),
          Map.entry("zfill", StringMethods::zeroFill),
          Map.entry("isdigit", predicate("isdigit", Character::isDigit)),
          Map.entry("isdecimal", predicate("isdecimal", Character::isDigit)),
          Map.entry("isnumeric", predicate("isnumeric", Character::isDigit)),
          Map.entry("isalpha", predicate("isalpha", Character::isLetter)),
          Map.entry("isalnum", predicate("isalnum", Character::isLetterOrDigit)),
          Map.entry("isspace", predicate("isspace", Whitespace::is)),
          Map.entry("isupper", (self, _, _) -> Tests.apply("upper", self, Arguments.NONE)),
          Map.entry("islower", (self, _, _) -> Tests.apply("lower", self, Arguments.NONE)));

  private StringMethods() {}

  private interface Strip {
    String strip(String text, IntPredicate drop);
  }

  private interface Split {
    List<Object> split(String text, String separator, long limit);
  }

  private static Method<String> stripping(String name, Strip strip) {
    return (self, arguments, budget) -> {
      String characters = arguments.bind(name, "chars").text(0, null);
      return budget.produced(strip.strip(self, PythonStrings.members(characters)));
    };
  }

  private static Method<String> splitting(String name, Split split) {
    return (self, arguments, budget) -> {
      BoundArguments bound = arguments.bind(name, "sep", "maxsplit");
      budget.chargeElements(self.length());
      return Sequence.list(split.split(self, bound.text(0, null), bound.integer(1, -1)));
    };
  }

  private static Method<String> transforming(String name, UnaryOperator<String> change) {
    return (self, arguments, budget) -> {
      arguments.bind(name);
      return budget.produced(change.apply(self));
    };
  }

  private static Method<String> predicate(String name, IntPredicate question) {
    return (self, arguments, _) -> {
      arguments.bind(name);
      return !self.isEmpty() && self.codePoints().allMatch(question);
    };
  }

  private static Method<String> padding(String name, char alignment) {
    return (self, arguments, budget) -> {
      BoundArguments bound = arguments.bind(name, "width", "fillchar");
      return FormatSpec.pad(self, bound.integer(0), bound.text(1, " "), alignment, budget);
    };
  }

  private static Object zeroFill(String self, Arguments arguments, RenderBudget budget) {
    long width = arguments.bind("zfill", "width").integer(0);
    boolean signed = self.startsWith("-") || self.startsWith("+");
    String sign = signed ? self.substring(0, 1) : "";
    String digits = self.substring(sign.length());
    return sign + FormatSpec.pad(digits, width - sign.length(), "0", '>', budget);
  }

  private static Object lines(String self, Arguments arguments, RenderBudget budget) {
    budget.chargeElements(self.length());
    return Sequence.list(
        PythonStrings.lines(self, arguments.bind("splitlines", "keepends").flag(0, false)));
  }

  private static boolean starts(String self, Arguments arguments) {
    BoundArguments bound = arguments.bind("startswith", "prefix");
    return any(bound, self, String::startsWith);
  }

  private static boolean ends(String self, Arguments arguments) {
    BoundArguments bound = arguments.bind("endswith", "suffix");
    return any(bound, self, String::endsWith);
  }

  private static boolean any(BoundArguments bound, String self, BiPredicate<String, String> affix) {
    return bound.value(0) instanceof Sequence choices
        ? choices.elements().stream().anyMatch(each -> affix.test(self, PythonText.str(each)))
        : affix.test(self, bound.text(0));
  }

  private static String withoutPrefix(String self, Arguments arguments) {
    String prefix = arguments.bind("removeprefix", "prefix").text(0);
    return self.startsWith(prefix) ? self.substring(prefix.length()) : self;
  }

  private static String withoutSuffix(String self, Arguments arguments) {
    String suffix = arguments.bind("removesuffix", "suffix").text(0);
    return self.endsWith(suffix) ? self.substring(0, self.length() - suffix.length()) : self;
  }

  private static Object replace(String self, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("replace", "old", "new", "count");
    return PythonStrings.replace(self, bound.text(0), bound.text(1), bound.integer(2, -1), budget);
  }

  private static Object join(String self, Arguments arguments, RenderBudget budget) {
    List<Object> parts = PythonValues.iterate(arguments.bind("join", "iterable").value(0), budget);
    for (Object part : parts) {
      if (!(part instanceof String)) {
        throw new EvaluationException("join expects strings, found " + PythonValues.typeName(part));
      }
    }
    return PythonStrings.join(self, parts, budget);
  }

  private static long find(String self, Arguments arguments, boolean last) {
    BoundArguments bound = arguments.bind("find", "sub", "start");
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

  private static long requireIndex(String self, Arguments arguments, boolean last) {
    long at = find(self, arguments, last);
    if (at < 0) {
      throw new EvaluationException("the text to find is not there");
    }
    return at;
  }

  private static long count(String self, Arguments arguments) {
    String part = arguments.bind("count", "sub").text(0);
    return part.isEmpty()
        ? self.codePointCount(0, self.length()) + 1
        : PythonStrings.split(self, part, -1).size() - 1L;
  }

  private static Sequence partition(String self, Arguments arguments, boolean last) {
    String separator = arguments.bind("partition", "sep").text(0);
    if (separator.isEmpty()) {
      throw new EvaluationException("an empty separator");
    }
    int at = last ? self.lastIndexOf(separator) : self.indexOf(separator);
    if (at < 0) {
      return last ? Sequence.tuple("", "", self) : Sequence.tuple(self, "", "");
    }
    return Sequence.tuple(
        self.substring(0, at), separator, self.substring(at + separator.length()));
  }
}
