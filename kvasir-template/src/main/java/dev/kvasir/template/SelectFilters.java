package dev.kvasir.template;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Filters that apply another filter or a test to each element. */
final class SelectFilters {
  static final Map<String, Filter> TABLE =
      Map.of(
          "map", SelectFilters::map,
          "select", (value, arguments, budget) -> pick(value, arguments, false, true, budget),
          "reject", (value, arguments, budget) -> pick(value, arguments, false, false, budget),
          "selectattr", (value, arguments, budget) -> pick(value, arguments, true, true, budget),
          "rejectattr", (value, arguments, budget) -> pick(value, arguments, true, false, budget));

  private SelectFilters() {}

  /** Unlike a for loop, these filters treat none and every other false value as empty. */
  private static List<Object> elements(Object value, RenderBudget budget) {
    return PythonValues.truth(value) ? PythonValues.iterate(value, budget) : List.of();
  }

  private static Object map(Object value, Arguments arguments, RenderBudget budget) {
    List<Object> elements = elements(value, budget);
    var mapped = new ArrayList<>(elements.size());
    if (arguments.positional().isEmpty()) {
      BoundArguments bound = arguments.bind("map", "attribute", "default");
      var path = AttributePath.of(bound.value(0));
      for (Object element : elements) {
        Object found = path.of(element, budget);
        mapped.add(found instanceof Undefined ? bound.value(1, found) : found);
      }
    } else {
      String filter = PythonText.str(arguments.positional().getFirst());
      for (Object element : elements) {
        mapped.add(Markup.plain(Filters.apply(filter, element, arguments.rest(), budget)));
      }
    }
    return Sequence.generator(mapped);
  }

  private static Object pick(
      Object value, Arguments given, boolean byAttribute, boolean wanted, RenderBudget budget) {
    Arguments arguments = given;
    var path = new AttributePath(List.of());
    if (byAttribute) {
      if (arguments.positional().isEmpty()) {
        throw new EvaluationException("selectattr and rejectattr need the name of an attribute");
      }
      path = AttributePath.of(Markup.plain(arguments.positional().getFirst()));
      arguments = arguments.rest();
    }
    var selected = new ArrayList<>();
    for (Object element : elements(value, budget)) {
      Object tested = path.of(element, budget);
      boolean holds =
          arguments.positional().isEmpty()
              ? PythonValues.truth(tested)
              : Tests.apply(
                  PythonText.str(arguments.positional().getFirst()), tested, arguments.rest());
      if (holds == wanted) {
        selected.add(element);
      }
    }
    return Sequence.generator(selected);
  }
}
