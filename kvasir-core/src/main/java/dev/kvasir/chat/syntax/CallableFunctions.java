package dev.kvasir.chat.syntax;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The functions that a message may call.
 *
 * @param schemas the JSON Schema of the arguments by name
 * @param isParallel whether a message may have several calls
 */
public record CallableFunctions(Map<String, String> schemas, boolean isParallel) {
  public static final CallableFunctions NONE = new CallableFunctions(Map.of(), true);

  public CallableFunctions {
    schemas = Collections.unmodifiableMap(new LinkedHashMap<>(schemas));
  }

  boolean isEmpty() {
    return schemas.isEmpty();
  }

  Set<String> names() {
    return schemas.keySet();
  }

  ParameterTypes types() {
    ParameterTypes types = new ParameterTypes();
    schemas.forEach(types::add);
    return types;
  }
}
