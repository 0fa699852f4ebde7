package dev.kvasir.format;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Converts JSON to the maps, lists and values that templates use. */
public final class JsonValues {
  private JsonValues() {}

  public static Object of(JsonElement element) {
    if (element.isJsonObject()) {
      Map<String, Object> map = new LinkedHashMap<>();
      element.getAsJsonObject().asMap().forEach((name, value) -> map.put(name, of(value)));
      return map;
    }
    if (element.isJsonArray()) {
      List<Object> list = new ArrayList<>();
      element.getAsJsonArray().forEach(value -> list.add(of(value)));
      return list;
    }
    return element.isJsonNull() ? null : primitive(element.getAsJsonPrimitive());
  }

  private static Object primitive(JsonPrimitive primitive) {
    if (primitive.isBoolean()) {
      return primitive.getAsBoolean();
    }
    return primitive.isNumber() ? number(primitive.getAsString()) : primitive.getAsString();
  }

  /**
   * Returns an integer for a number without a fraction, since templates print 3 and 3.0
   * differently.
   */
  private static Number number(String text) {
    if (text.matches("-?\\d+")) {
      try {
        return Long.valueOf(text);
      } catch (NumberFormatException e) {
        return Double.valueOf(text);
      }
    }
    return Double.valueOf(text);
  }
}
