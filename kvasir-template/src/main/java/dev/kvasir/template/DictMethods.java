package dev.kvasir.template;

import dev.kvasir.template.BuiltinMethods.Method;
import java.util.List;
import java.util.Map;

/** Methods of dictionaries. */
final class DictMethods {
  static final Map<String, Method<Dict>> TABLE =
      Map.of(
          "get", (dict, arguments, _) -> get(dict, arguments),
          "keys", (dict, _, _) -> new Sequence(Sequence.Kind.KEYS, dict.keys()),
          "values", (dict, _, _) -> new Sequence(Sequence.Kind.VALUES, dict.values()),
          "items", (dict, _, _) -> new Sequence(Sequence.Kind.ITEMS, dict.items()),
          "copy", (dict, _, _) -> copy(dict),
          "update", DictMethods::update,
          "pop", (dict, arguments, _) -> pop(dict, arguments),
          "setdefault", (dict, arguments, _) -> putIfAbsent(dict, arguments),
          "clear", (dict, _, _) -> clear(dict));

  private DictMethods() {}

  private static Object get(Dict dict, Arguments arguments) {
    BoundArguments bound = arguments.bind("get", "key", "default");
    return dict.find(bound.value(0), bound.value(1, null));
  }

  private static Dict copy(Dict dict) {
    var copy = new Dict();
    copy.putAll(dict);
    return copy;
  }

  private static Object update(Dict dict, Arguments arguments, RenderBudget budget) {
    arguments.positional().forEach(from -> addAll(dict, from, budget));
    arguments.named().forEach(dict::put);
    return null;
  }

  private static Object pop(Dict dict, Arguments arguments) {
    BoundArguments bound = arguments.bind("pop", "key", "default");
    if (!dict.contains(bound.value(0)) && !bound.has(1)) {
      throw new EvaluationException("the dict has no key " + PythonText.repr(bound.value(0)));
    }
    return dict.remove(bound.value(0), bound.value(1, null));
  }

  private static Object putIfAbsent(Dict dict, Arguments arguments) {
    BoundArguments bound = arguments.bind("setdefault", "key", "default");
    if (!dict.contains(bound.value(0))) {
      dict.put(bound.value(0), bound.value(1, null));
    }
    return dict.find(bound.value(0), null);
  }

  private static Object clear(Dict dict) {
    dict.clear();
    return null;
  }

  /** Adds a dictionary or a list of pairs. */
  static void addAll(Dict dict, Object from, RenderBudget budget) {
    if (from instanceof Dict other) {
      budget.chargeElements(other.size());
      dict.putAll(other);
      return;
    }
    for (Object element : PythonValues.iterate(from, budget)) {
      List<Object> pair = PythonValues.iterate(element, budget);
      if (pair.size() != 2) {
        throw new EvaluationException(
            "a dict is made of pairs, found an element of " + pair.size());
      }
      dict.put(pair.getFirst(), pair.getLast());
    }
  }
}
