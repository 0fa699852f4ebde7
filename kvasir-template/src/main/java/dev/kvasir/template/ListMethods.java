package dev.kvasir.template;

import dev.kvasir.template.BuiltinMethods.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Methods of lists; the read-only ones also apply to tuples. */
final class ListMethods {
  static final Map<String, Method<Sequence>> READING =
      Map.of(
          "index", (list, arguments, _) -> index(list, arguments),
          "count", (list, arguments, _) -> count(list, arguments));

  static final Map<String, Method<Sequence>> CHANGING =
      Map.of(
          "append", ListMethods::append,
          "extend", ListMethods::extend,
          "insert", ListMethods::insert,
          "pop", (list, arguments, _) -> pop(list, arguments),
          "remove", (list, arguments, _) -> remove(list, arguments),
          "reverse", (list, _, _) -> reverse(list),
          "clear", (list, _, _) -> clear(list),
          "copy", ListMethods::copy,
          "sort", ListMethods::sort);

  private ListMethods() {}

  private static int find(Sequence list, Object value) {
    for (int i = 0; i < list.elements().size(); i++) {
      if (PythonComparison.equal(list.elements().get(i), value)) {
        return i;
      }
    }
    return -1;
  }

  private static int requireIndex(Sequence list, Object value) {
    int at = find(list, value);
    if (at < 0) {
      throw new EvaluationException("the list does not hold " + PythonText.repr(value));
    }
    return at;
  }

  private static Object index(Sequence list, Arguments arguments) {
    return (long) requireIndex(list, arguments.bind("index", "value").value(0));
  }

  private static Object count(Sequence list, Arguments arguments) {
    Object value = arguments.bind("count", "value").value(0);
    return list.elements().stream().filter(each -> PythonComparison.equal(each, value)).count();
  }

  private static Object append(Sequence list, Arguments arguments, RenderBudget budget) {
    budget.chargeElements(1);
    list.elements().add(arguments.bind("append", "object").value(0));
    return null;
  }

  private static Object extend(Sequence list, Arguments arguments, RenderBudget budget) {
    list.elements()
        .addAll(PythonValues.iterate(arguments.bind("extend", "iterable").value(0), budget));
    return null;
  }

  private static Object insert(Sequence list, Arguments arguments, RenderBudget budget) {
    budget.chargeElements(1);
    BoundArguments bound = arguments.bind("insert", "index", "object");
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

  private static Object remove(Sequence list, Arguments arguments) {
    list.elements().remove(requireIndex(list, arguments.bind("remove", "value").value(0)));
    return null;
  }

  private static Object reverse(Sequence list) {
    Collections.reverse(list.elements());
    return null;
  }

  private static Object clear(Sequence list) {
    list.elements().clear();
    return null;
  }

  private static Object copy(Sequence list, Arguments arguments, RenderBudget budget) {
    budget.chargeElements(list.elements().size());
    return Sequence.list(new ArrayList<>(list.elements()));
  }

  private static Object sort(Sequence list, Arguments arguments, RenderBudget budget) {
    boolean reverse = arguments.bind("sort", "reverse").flag(0, false);
    var options = new Arguments(List.of(reverse, true), Map.of());
    var sorted = (Sequence) Filters.apply("sort", list, options, budget);
    Collections.copy(list.elements(), sorted.elements());
    return null;
  }
}
