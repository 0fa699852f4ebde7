package dev.kvasir.template;

import dev.kvasir.template.Arguments.Bound;
import dev.kvasir.template.Operators.Arithmetic;
import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Markup;
import dev.kvasir.template.PythonValues.Sequence;
import dev.kvasir.template.PythonValues.Undefined;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/** The filters: {@code value|filter(arguments)}. */
final class Filters {
  private static final Map<String, BiFunction<Object, Arguments, Object>> TABLE = new HashMap<>();

  static {
    TABLE.put("default", Filters::fallback);
    TABLE.put("d", Filters::fallback);
    TABLE.put("tojson", Json::dump);
    TABLE.put("trim", Filters::trim);
    TABLE.put("upper", plain("upper", text -> text.toUpperCase(Locale.ROOT)));
    TABLE.put("lower", plain("lower", text -> text.toLowerCase(Locale.ROOT)));
    TABLE.put("title", plain("title", Filters::title));
    TABLE.put("capitalize", plain("capitalize", PythonStrings::capitalize));
    TABLE.put("string", plain("string", text -> text));
    TABLE.put("replace", Filters::replace);
    TABLE.put("join", Filters::join);
    TABLE.put("indent", Filters::indent);
    TABLE.put("format", Filters::format);
    TABLE.put("safe", (value, _) -> new Markup(PythonText.str(value)));
    TABLE.put("escape", Filters::escape);
    TABLE.put("e", Filters::escape);
    TABLE.put("int", Filters::integer);
    TABLE.put("float", Filters::real);
    TABLE.put("abs", Filters::absolute);
    TABLE.put("round", Filters::round);
    TABLE.put("length", Filters::length);
    TABLE.put("count", Filters::length);
    TABLE.put("first", (value, arguments) -> end(value, arguments, true));
    TABLE.put("last", (value, arguments) -> end(value, arguments, false));
    TABLE.put("list", (value, arguments) -> Sequence.list(iterate(value, arguments)));
    TABLE.put("items", Filters::items);
    TABLE.put("dictsort", Filters::sortedItems);
    TABLE.put("sort", Filters::sort);
    TABLE.put("unique", Filters::unique);
    TABLE.put("reverse", Filters::reverse);
    TABLE.put("sum", Filters::sum);
    TABLE.put("min", (value, arguments) -> extreme(value, arguments, "min", -1));
    TABLE.put("max", (value, arguments) -> extreme(value, arguments, "max", 1));
    TABLE.put("map", Filters::map);
    TABLE.put("select", (value, arguments) -> select(value, arguments, false, true));
    TABLE.put("reject", (value, arguments) -> select(value, arguments, false, false));
    TABLE.put("selectattr", (value, arguments) -> select(value, arguments, true, true));
    TABLE.put("rejectattr", (value, arguments) -> select(value, arguments, true, false));
  }

  private Filters() {}

  static boolean known(String name) {
    return TABLE.containsKey(name);
  }

  static String unknown(String name) {
    return "the unsupported filter '%s'; supported are %s"
        .formatted(name, String.join(", ", new TreeSet<>(TABLE.keySet())));
  }

  static Object apply(String name, Object value, Arguments arguments) {
    if (!known(name)) {
      throw new EvaluationException(unknown(name));
    }
    return TABLE.get(name).apply(value, arguments);
  }

  private static Object fallback(Object value, Arguments arguments) {
    Bound bound = arguments.bind("default", "default_value", "boolean");
    boolean replaced =
        value instanceof Undefined || bound.flag(1, false) && !PythonValues.truth(value);
    return replaced ? bound.value(0, "") : value;
  }

  private static BiFunction<Object, Arguments, Object> plain(
      String name, UnaryOperator<String> change) {
    return (value, arguments) -> {
      arguments.bind(name);
      return arguments.budget().produced(change.apply(PythonText.str(value)));
    };
  }

  private static Object trim(Object value, Arguments arguments) {
    String characters = arguments.bind("trim", "chars").text(0, null);
    String text = PythonText.str(value);
    return arguments
        .budget()
        .produced(PythonStrings.strip(text, PythonStrings.members(characters)));
  }

  private static Object escape(Object value, Arguments arguments) {
    return new Markup(arguments.budget().produced(Markup.escape(PythonText.str(value))));
  }

  private static Object replace(Object value, Arguments arguments) {
    Bound bound = arguments.bind("replace", "old", "new", "count");
    return PythonStrings.replace(
        PythonText.str(value),
        PythonText.str(bound.value(0)),
        PythonText.str(bound.value(1)),
        bound.integer(2, -1),
        arguments.budget());
  }

  private static Object join(Object value, Arguments arguments) {
    Bound bound = arguments.bind("join", "d", "attribute");
    List<Object> elements = PythonValues.iterate(value, arguments.budget());
    elements.replaceAll(attribute(bound, 1));
    return PythonStrings.join(PythonText.str(bound.value(0, "")), elements, arguments.budget());
  }

  private static Object indent(Object value, Arguments arguments) {
    Bound bound = arguments.bind("indent", "width", "first", "blank");
    RenderBudget budget = arguments.budget();
    String indention =
        bound.value(0, 4L) instanceof String text ? text : budget.repeat(" ", bound.integer(0, 4));
    boolean blank = bound.flag(2, false);
    List<Object> lines = PythonStrings.lines(PythonText.str(value) + "\n", false);
    var out = new StringBuilder(bound.flag(1, false) ? indention : "");
    for (int i = 0; i < lines.size(); i++) {
      String line = (String) lines.get(i);
      out.append(i == 0 ? "" : "\n");
      out.append(i > 0 && (blank || !line.isEmpty()) ? indention : "").append(line);
      budget.chargeText(indention.length() + line.length());
    }
    return out.toString();
  }

  private static Object format(Object value, Arguments arguments) {
    Object inputs =
        arguments.named().isEmpty()
            ? new Sequence(Sequence.Kind.TUPLE, arguments.positional())
            : Dict.of(arguments.named());
    return StringFormat.percent(PythonText.str(value), inputs, arguments.budget());
  }

  /** Unlike Python's title(), a word starts after white space, a dash or an opening bracket. */
  private static String title(String text) {
    return PythonStrings.title(
        text, point -> PythonStrings.isSpace(point) || "-({[<".indexOf(point) >= 0);
  }

  private static Object length(Object value, Arguments arguments) {
    arguments.bind("length");
    return PythonValues.length(value);
  }

  private static Object integer(Object value, Arguments arguments) {
    Object fallback = arguments.bind("int", "default").value(0, 0L);
    return switch (value) {
      case Boolean truth -> truth ? 1L : 0L;
      case Long number -> number;
      case Double number when Math.abs(number) < Long.MAX_VALUE -> number.longValue();
      case String text -> parseInteger(text, fallback);
      case Undefined undefined -> throw undefined.misused();
      case null, default -> fallback;
    };
  }

  private static Object parseInteger(String text, Object fallback) {
    try {
      return Long.valueOf(numeral(text));
    } catch (NumberFormatException _) {
      Double number = parse(text);
      boolean fits = number != null && Math.abs(number) < Long.MAX_VALUE;
      return fits ? (Object) number.longValue() : fallback;
    }
  }

  private static Double parse(String text) {
    String number = numeral(text);
    // Java also parses hexadecimal floats and the suffixes d and f.
    boolean decimal = number.chars().allMatch(c -> c >= '0' && c <= '9' || "+-.eE".indexOf(c) >= 0);
    try {
      return decimal ? Double.valueOf(number) : null;
    } catch (NumberFormatException _) {
      return null;
    }
  }

  private static String numeral(String text) {
    return PythonStrings.strip(text, PythonStrings::isSpace).replace("_", "");
  }

  private static Object real(Object value, Arguments arguments) {
    Object fallback = arguments.bind("float", "default").value(0, 0.0);
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

  private static Object absolute(Object value, Arguments arguments) {
    arguments.bind("abs");
    return switch (value) {
      case Double number -> (Object) Math.abs(number);
      case Boolean truth -> truth ? 1L : 0L;
      case Long number when number >= 0 -> number;
      case null, default -> Arithmetic.negate(value, arguments.budget());
    };
  }

  private static Object round(Object value, Arguments arguments) {
    Bound bound = arguments.bind("round", "precision", "method");
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
      case null, default -> throw EvaluationException.expected("round expects a number", value);
    };
  }

  private static Double scaled(BigDecimal number, long precision, RoundingMode mode) {
    return number.setScale((int) precision, mode).doubleValue();
  }

  private static List<Object> iterate(Object value, Arguments arguments) {
    return PythonValues.iterate(value, arguments.budget());
  }

  private static Object end(Object value, Arguments arguments, boolean first) {
    List<Object> elements = iterate(value, arguments);
    if (elements.isEmpty()) {
      return new Undefined("there is no " + (first ? "first" : "last") + " element");
    }
    return first ? elements.getFirst() : elements.getLast();
  }

  private static Object items(Object value, Arguments arguments) {
    arguments.bind("items");
    return switch (value) {
      case Undefined _ -> Sequence.generator(new ArrayList<>());
      case Dict dict -> Sequence.generator(dict.items());
      case null, default -> throw EvaluationException.expected("items expects a dict", value);
    };
  }

  private static Object sortedItems(Object value, Arguments arguments) {
    Bound bound = arguments.bind("dictsort", "case_sensitive", "by", "reverse");
    if (!(value instanceof Dict dict)) {
      throw EvaluationException.expected("dictsort expects a dict", value);
    }
    long position =
        switch (bound.text(1, "key")) {
          case "key" -> 0;
          case "value" -> 1;
          default -> throw new EvaluationException("dictsort sorts by 'key' or 'value'");
        };
    return sorted(dict.items(), key(bound, 0, attribute(position)), bound.flag(2, false));
  }

  private static Object sort(Object value, Arguments arguments) {
    Bound bound = arguments.bind("sort", "reverse", "case_sensitive", "attribute");
    var key = key(bound, 1, attribute(bound, 2));
    return sorted(iterate(value, arguments), key, bound.flag(0, false));
  }

  private static Sequence sorted(
      List<Object> elements, UnaryOperator<Object> key, boolean reverse) {
    Comparator<Object> order = (a, b) -> Operators.compare(key.apply(a), key.apply(b));
    try {
      elements.sort(reverse ? order.reversed() : order);
    } catch (IllegalArgumentException _) {
      throw new EvaluationException("values that have no consistent order");
    }
    return Sequence.list(elements);
  }

  /** Returns the function of the argument {@code attribute}; without one it changes nothing. */
  static UnaryOperator<Object> attribute(Bound bound, int index) {
    return bound.isGiven(index) ? attribute(bound.value(index)) : element -> element;
  }

  /** Returns the function that finds an attribute: {@code 'a.b'} or an index. */
  private static UnaryOperator<Object> attribute(Object attribute) {
    if (!(attribute instanceof String path)) {
      return element -> Subscript.item(element, attribute);
    }
    var steps = PythonStrings.split(path, ".", -1);
    steps.replaceAll(
        step -> ((String) step).matches("[0-9]{1,9}") ? Long.valueOf((String) step) : step);
    return element -> {
      Object value = element;
      for (Object step : steps) {
        value = Subscript.item(value, step);
      }
      return value;
    };
  }

  private static UnaryOperator<Object> key(
      Bound bound, int caseSensitive, UnaryOperator<Object> attribute) {
    boolean exact = bound.flag(caseSensitive, false);
    return element -> {
      Object value = attribute.apply(element);
      return !exact && value instanceof String text ? text.toLowerCase(Locale.ROOT) : value;
    };
  }

  private static Object unique(Object value, Arguments arguments) {
    Bound bound = arguments.bind("unique", "case_sensitive", "attribute");
    var key = key(bound, 0, attribute(bound, 1));
    var seen = new Dict();
    var distinct = new ArrayList<>();
    for (Object element : iterate(value, arguments)) {
      Object identity = key.apply(element);
      if (!seen.contains(identity)) {
        seen.put(identity, true);
        distinct.add(element);
      }
    }
    return Sequence.generator(distinct);
  }

  private static Object reverse(Object value, Arguments arguments) {
    arguments.bind("reverse");
    return value instanceof String text
        ? Subscript.slice(text, null, null, -1L, arguments.budget())
        : Sequence.generator(new ArrayList<>(iterate(value, arguments).reversed()));
  }

  private static Object sum(Object value, Arguments arguments) {
    Bound bound = arguments.bind("sum", "attribute", "start");
    var attribute = attribute(bound, 0);
    Object sum = bound.value(1, 0L);
    for (Object element : iterate(value, arguments)) {
      sum = Arithmetic.ADD.apply(sum, attribute.apply(element), arguments.budget());
    }
    return sum;
  }

  private static Object extreme(Object value, Arguments arguments, String name, int sign) {
    Bound bound = arguments.bind(name, "case_sensitive", "attribute");
    var key = key(bound, 0, attribute(bound, 1));
    List<Object> elements = iterate(value, arguments);
    if (elements.isEmpty()) {
      return new Undefined("there is no element to choose from");
    }
    Object best = elements.getFirst();
    for (Object element : elements.subList(1, elements.size())) {
      if (Operators.compare(key.apply(element), key.apply(best)) * sign > 0) {
        best = element;
      }
    }
    return best;
  }

  /** Unlike a for loop, these filters treat none and every other false value as empty. */
  private static List<Object> elements(Object value, Arguments arguments) {
    return PythonValues.truth(value) ? iterate(value, arguments) : List.of();
  }

  private static Object map(Object value, Arguments arguments) {
    List<Object> elements = elements(value, arguments);
    var mapped = new ArrayList<>(elements.size());
    if (arguments.positional().isEmpty()) {
      Bound bound = arguments.bind("map", "attribute", "default");
      var attribute = attribute(bound.value(0));
      for (Object element : elements) {
        Object found = attribute.apply(element);
        mapped.add(found instanceof Undefined ? bound.value(1, found) : found);
      }
    } else {
      String filter = PythonText.str(arguments.positional().getFirst());
      for (Object element : elements) {
        mapped.add(Markup.plain(Filters.apply(filter, element, arguments.rest())));
      }
    }
    return Sequence.generator(mapped);
  }

  private static Object select(Object value, Arguments given, boolean byAttribute, boolean wanted) {
    Arguments arguments = given;
    UnaryOperator<Object> attribute = element -> element;
    if (byAttribute) {
      if (arguments.positional().isEmpty()) {
        throw new EvaluationException("selectattr and rejectattr need the name of an attribute");
      }
      attribute = attribute(Markup.plain(arguments.positional().getFirst()));
      arguments = arguments.rest();
    }
    var selected = new ArrayList<>();
    for (Object element : elements(value, arguments)) {
      if (holds(attribute.apply(element), arguments) == wanted) {
        selected.add(element);
      }
    }
    return Sequence.generator(selected);
  }

  /** Applies the test that the arguments name, or asks for the truth of a value. */
  private static boolean holds(Object value, Arguments arguments) {
    return arguments.positional().isEmpty()
        ? PythonValues.truth(value)
        : Tests.apply(PythonText.str(arguments.positional().getFirst()), value, arguments.rest());
  }
}
