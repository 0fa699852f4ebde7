package dev.kvasir.template;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Filters over lists and dictionaries. */
final class ListFilters {
  static final Map<String, Filter> TABLE =
      Map.ofEntries(
          Map.entry("first", (value, _, budget) -> end(value, true, budget)),
          Map.entry("last", (value, _, budget) -> end(value, false, budget)),
          Map.entry("list", (value, _, budget) -> list(value, budget)),
          Map.entry("items", ListFilters::items),
          Map.entry("dictsort", ListFilters::sortedItems),
          Map.entry("sort", ListFilters::sort),
          Map.entry("unique", ListFilters::unique),
          Map.entry("reverse", ListFilters::reverse),
          Map.entry("sum", ListFilters::sum),
          Map.entry("min", (value, arguments, budget) -> extreme(value, arguments, -1, budget)),
          Map.entry("max", (value, arguments, budget) -> extreme(value, arguments, 1, budget)));

  private ListFilters() {}

  private static Sequence list(Object value, RenderBudget budget) {
    return Sequence.list(new ArrayList<>(PythonValues.iterate(value, budget)));
  }

  private static Object end(Object value, boolean first, RenderBudget budget) {
    List<Object> elements = PythonValues.iterate(value, budget);
    if (elements.isEmpty()) {
      return new Undefined("there is no " + (first ? "first" : "last") + " element");
    }
    return first ? elements.getFirst() : elements.getLast();
  }

  private static Object items(Object value, Arguments arguments, RenderBudget budget) {
    arguments.bind("items");
    return switch (value) {
      case Undefined _ -> Sequence.generator(new ArrayList<>());
      case Dict dict -> Sequence.generator(dict.items());
      case null, default ->
          throw new EvaluationException(
              "items expects a dict, found " + PythonValues.typeName(value));
    };
  }

  private static Object sortedItems(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("dictsort", "case_sensitive", "by", "reverse");
    if (!(value instanceof Dict dict)) {
      throw new EvaluationException(
          "dictsort expects a dict, found " + PythonValues.typeName(value));
    }
    long position =
        switch (bound.text(1, "key")) {
          case "key" -> 0;
          case "value" -> 1;
          default -> throw new EvaluationException("dictsort sorts by 'key' or 'value'");
        };
    var key = key(bound, 0, new AttributePath(List.of(position)), budget);
    return sorted(dict.items(), key, bound.flag(2, false));
  }

  private static Object sort(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("sort", "reverse", "case_sensitive", "attribute");
    List<Object> elements = PythonValues.iterate(value, budget);
    return sorted(elements, key(bound, 1, path(bound, 2), budget), bound.flag(0, false));
  }

  private static Sequence sorted(
      List<Object> elements, UnaryOperator<Object> key, boolean reverse) {
    Comparator<Object> order = (a, b) -> PythonComparison.compare(key.apply(a), key.apply(b));
    var sorted = new ArrayList<>(elements);
    try {
      sorted.sort(reverse ? order.reversed() : order);
    } catch (IllegalArgumentException _) {
      throw new EvaluationException("values that have no consistent order");
    }
    return Sequence.list(sorted);
  }

  private static AttributePath path(BoundArguments bound, int index) {
    return bound.isGiven(index)
        ? AttributePath.of(bound.value(index))
        : new AttributePath(List.of());
  }

  private static UnaryOperator<Object> key(
      BoundArguments bound, int caseSensitive, AttributePath path, RenderBudget budget) {
    boolean exact = bound.flag(caseSensitive, false);
    return element -> {
      Object value = path.of(element, budget);
      return !exact && value instanceof String text ? text.toLowerCase(Locale.ROOT) : value;
    };
  }

  private static Object unique(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("unique", "case_sensitive", "attribute");
    var key = key(bound, 0, path(bound, 1), budget);
    var seen = new Dict();
    var distinct = new ArrayList<>();
    for (Object element : PythonValues.iterate(value, budget)) {
      Object identity = key.apply(element);
      if (!seen.contains(identity)) {
        seen.put(identity, true);
        distinct.add(element);
      }
    }
    return Sequence.generator(distinct);
  }

  private static Object reverse(Object value, Arguments arguments, RenderBudget budget) {
    arguments.bind("reverse");
    if (value instanceof String text) {
      return Subscript.slice(text, null, null, -1L, budget);
    }
    var elements = new ArrayList<>(PythonValues.iterate(value, budget));
    Collections.reverse(elements);
    return Sequence.generator(elements);
  }

  private static Object sum(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("sum", "attribute", "start");
    Object sum = bound.value(1, 0L);
    for (Object term : path(bound, 0).of(PythonValues.iterate(value, budget), budget)) {
      sum = ArithmeticOperator.ADD.apply(sum, term, budget);
    }
    return sum;
  }

  private static Object extreme(Object value, Arguments arguments, int sign, RenderBudget budget) {
    BoundArguments bound = arguments.bind(sign < 0 ? "min" : "max", "case_sensitive", "attribute");
    var key = key(bound, 0, path(bound, 1), budget);
    List<Object> elements = PythonValues.iterate(value, budget);
    if (elements.isEmpty()) {
      return new Undefined("there is no element to choose from");
    }
    Object best = elements.getFirst();
    for (Object element : elements.subList(1, elements.size())) {
      if (PythonComparison.compare(key.apply(element), key.apply(best)) * sign > 0) {
        best = element;
      }
    }
    return best;
  }
}
