package dev.kvasir.template;

import java.util.LinkedHashMap;
import java.util.Map;

/** Shorthands for the tests of this package. */
final class Rendering {
  private Rendering() {}

  static String render(String source) {
    return render(source, Map.of());
  }

  static String render(String source, Map<String, ?> variables) {
    return JinjaTemplate.parse(source, "test").render(variables);
  }

  /** Returns an insertion-ordered map, unlike {@code Map.of}. */
  static Map<String, Object> map(Object... keysAndValues) {
    var map = new LinkedHashMap<String, Object>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      map.put((String) keysAndValues[i], keysAndValues[i + 1]);
    }
    return map;
  }

  static Map<String, Object> message(String role, Object content) {
    return map("role", role, "content", content);
  }
}
