package dev.kvasir.chat.syntax;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The JSON types of the parameters of functions, for formats that write all values as plain text.
 */
final class ParameterTypes {
  private static final String STRING = "string";

  /** Types by function and parameter. An empty set is unknown. */
  private final Map<String, Map<String, Set<String>>> types = new HashMap<>();

  /** Adds a function by the JSON Schema of its arguments. */
  void add(String function, String schema) {
    Map<String, Set<String>> parameters = new HashMap<>();
    if (properties(schema) instanceof JsonObject properties) {
      properties.asMap().forEach((name, property) -> parameters.put(name, types(property)));
    }
    types.put(function, parameters);
  }

  private static JsonElement properties(String schema) {
    try {
      return JsonParser.parseString(schema) instanceof JsonObject object
          ? object.get("properties")
          : null;
    } catch (JsonParseException e) {
      return null;
    }
  }

  private static Set<String> types(JsonElement property) {
    Set<String> found = new HashSet<>();
    if (property instanceof JsonObject object) {
      addType(object.get("type"), found);
      for (String keyword : new String[] {"anyOf", "oneOf"}) {
        if (object.get(keyword) instanceof JsonArray alternatives) {
          alternatives.forEach(alternative -> found.addAll(types(alternative)));
        }
      }
      if (found.isEmpty() && object.get("enum") instanceof JsonArray values) {
        values.forEach(value -> found.add(isString(value) ? STRING : "other"));
      }
    }
    return found;
  }

  private static void addType(JsonElement type, Set<String> found) {
    if (isString(type)) {
      found.add(type.getAsString());
    } else if (type instanceof JsonArray several) {
      several.forEach(one -> addType(one, found));
    }
  }

  private static boolean isString(JsonElement element) {
    return element != null && element.isJsonPrimitive() && element.getAsJsonPrimitive().isString();
  }

  /** Returns whether every value of a parameter is a string. */
  boolean isText(String function, String parameter) {
    return Set.of(STRING).equals(types.getOrDefault(function, Map.of()).get(parameter));
  }

  /** Returns the JSON of a value: of a literal if it is one, else a string. */
  static String json(String text) {
    return JsonText.compact(text, false)
        .filter(json -> !json.startsWith("\""))
        .or(() -> JsonText.compact(text, true).filter(json -> "[{".indexOf(json.charAt(0)) >= 0))
        .orElseGet(() -> JsonText.string(text));
  }
}
