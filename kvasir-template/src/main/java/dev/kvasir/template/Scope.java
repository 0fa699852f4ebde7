package dev.kvasir.template;

import java.util.HashMap;
import java.util.Map;

/** Nested variables; an assignment always goes to the innermost scope. */
final class Scope {
  private final Scope outer;
  private final Map<String, Object> names = new HashMap<>();

  Scope(Scope outer) {
    this.outer = outer;
  }

  void put(String name, Object value) {
    names.put(name, value);
  }

  Object find(String name) {
    for (Scope scope = this; scope != null; scope = scope.outer) {
      Object value = scope.names.get(name);
      if (value != null || scope.names.containsKey(name)) {
        return value;
      }
    }
    return Undefined.name(name);
  }
}
