package dev.kvasir.template;

import dev.kvasir.template.Arguments.Bound;
import dev.kvasir.template.Operators.Arithmetic;
import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Markup;
import dev.kvasir.template.PythonValues.Sequence;
import dev.kvasir.template.PythonValues.Undefined;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/** Filters over lists and dictionaries. */
final class ListFilters {
  static final Map<String, BiFunction<Object, Arguments, Object>> TABLE =
      Map.ofEntries(
          Map.entry("first", (value, arguments) -> end(value, arguments, true)),
          Map.entry("last", (value, arguments) -> end(value, arguments, false)),
          Map.entry("list", (value, arguments) -> Sequence.list(iterate(value, arguments))),
          Map.entry("items", ListFilters::items),
          Map.entry("dictsort", ListFilters::sortedItems),
          Map.entry("sort", ListFilters::sort),
          Map.entry("unique", ListFilters::unique),
          Map.entry("reverse", ListFilters::reverse),
          Map.entry("sum", ListFilters::sum),
          Map.entry("min", (value, arguments) -> extreme(value, arguments, "min", -1)),
          Map.entry("max", (value, arguments) -> extreme(value, arguments, "max", 1)),
          Map.entry("map", ListFilters::map),
          Map.entry("select", (value, arguments) -> select(value, arguments, false, true)),
          Map.entry("reject", (value, arguments) -> select(value, arguments, false, false)),
          Map.entry("selectattr", (value, arguments) -> select(value, arguments, true, true)),
          Map.entry("rejectattr", (value, arguments) -> select(value, arguments, true, false)));

  private ListFilters() {}

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
    steps.replaceAll(step -> ((String) step).matches("[0-9]{1,9}") ? Long.valueOf((String) step) : step);
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

  private static Object select(
      Object value, Arguments given, boolean byAttribute, boolean wanted) {
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
        : Tests.apply(
            PythonText.str(arguments.positional().getFirst()), value, arguments.rest());
  }
}
