package dev.kvasir.template;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

/** The registry of filters. */
final class Filters {
  private static final Map<String, Filter> TABLE = new HashMap<>();

  static {
    TABLE.putAll(TextFilters.TABLE);
    TABLE.putAll(NumberFilters.TABLE);
    TABLE.putAll(ListFilters.TABLE);
    TABLE.putAll(SelectFilters.TABLE);
    TABLE.put("default", Filters::fallback);
    TABLE.put("d", Filters::fallback);
    TABLE.put("tojson", Json::dump);
  }

  private Filters() {}

  static boolean known(String name) {
    return TABLE.containsKey(name);
  }

  static String unknown(String name) {
    return "the unsupported filter '%s'; supported are %s"
        .formatted(name, String.join(", ", new TreeSet<>(TABLE.keySet())));
  }

  static Object apply(String name, Object value, Arguments arguments, RenderBudget budget) {
    Filter filter = TABLE.get(name);
    if (filter == null) {
      throw new EvaluationException(unknown(name));
    }
    return filter.apply(value, arguments, budget);
  }

  private static Object fallback(Object value, Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("default", "default_value", "boolean");
    boolean replaced =
        value instanceof Undefined || bound.flag(1, false) && !PythonValues.truth(value);
    return replaced ? bound.value(0, "") : value;
  }
}
