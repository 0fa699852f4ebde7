package dev.kvasir.grammar;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Merges two schemas that must both hold: the union of properties, and the tighter bounds. Other
 * conflicts are rejected.
 */
final class SchemaMerge {
  private static final Set<String> LOWER_BOUNDS =
      Set.of("minItems", "minLength", "minimum", "exclusiveMinimum");
  private static final Set<String> UPPER_BOUNDS =
      Set.of("maxItems", "maxLength", "maximum", "exclusiveMaximum");

  private final Schema first;
  private final Schema second;
  private final String pointer;

  private SchemaMerge(Schema first, Schema second, String pointer) {
    this.first = first;
    this.second = second;
    this.pointer = pointer;
  }

  /** Merges schemas without '$ref' and 'allOf'. */
  static Schema of(Schema first, Schema second, String pointer) {
    return new SchemaMerge(first, second, pointer).merge();
  }

  private Schema merge() {
    JsonObject merged = new JsonObject();
    for (String keyword : first.json().keySet()) {
      if (!Schema.isAnnotation(keyword)) {
        merged.add(keyword, first.element(keyword));
      }
    }
    for (String keyword : second.json().keySet()) {
      if (!Schema.isAnnotation(keyword)) {
        merged.add(keyword, second.element(keyword));
      }
    }
    for (String keyword : second.json().keySet()) {
      if (!Schema.isAnnotation(keyword) && first.has(keyword)) {
        merged.add(keyword, both(keyword));
      }
    }
    checkAdditional(first, second);
    checkAdditional(second, first);
    return new Schema(merged, pointer);
  }

  private JsonElement both(String keyword) {
    JsonElement a = first.element(keyword);
    JsonElement b = second.element(keyword);
    if (keyword.equals("properties")) {
      return properties();
    }
    if (keyword.equals("required")) {
      return array(Stream.concat(names("required", first), names("required", second)).distinct());
    }
    if (keyword.equals("type")) {
      return types();
    }
    if (keyword.equals("enum")) {
      return array(first.array(keyword).stream().filter(second.array(keyword)::contains));
    }
    if (LOWER_BOUNDS.contains(keyword) || UPPER_BOUNDS.contains(keyword)) {
      int order =
          Objects.compare(first.number(keyword), second.number(keyword), BigDecimal::compareTo);
      return order > 0 == LOWER_BOUNDS.contains(keyword) ? a : b;
    }
    if (!a.equals(b)) {
      throw refusal(keyword);
    }
    return a;
  }

  private static Stream<JsonElement> names(String keyword, Schema schema) {
    return schema.strings(keyword).stream().map(JsonPrimitive::new);
  }

  private static JsonArray array(Stream<JsonElement> elements) {
    JsonArray array = new JsonArray();
    elements.forEach(array::add);
    return array;
  }

  /** A property of both schemas must match both. */
  private JsonObject properties() {
    JsonObject all = first.object("properties").deepCopy();
    for (Map.Entry<String, JsonElement> member : second.object("properties").entrySet()) {
      JsonElement other = all.get(member.getKey());
      if (other == null || other.equals(member.getValue())) {
        all.add(member.getKey(), member.getValue());
      } else {
        JsonObject both = new JsonObject();
        both.add("allOf", array(Stream.of(other, member.getValue())));
        all.add(member.getKey(), both);
      }
    }
    return all;
  }

  private JsonArray types() {
    List<String> common = new ArrayList<>();
    for (String a : SchemaTypes.named(first)) {
      for (String b : SchemaTypes.named(second)) {
        if (a.equals(b) || a.equals("integer") && b.equals("number")) {
          common.add(a);
        } else if (a.equals("number") && b.equals("integer")) {
          common.add(b);
        }
      }
    }
    return array(common.stream().distinct().map(JsonPrimitive::new));
  }

  /**
   * 'additionalProperties' of one schema would apply to properties that only the other declares.
   */
  private void checkAdditional(Schema one, Schema other) {
    boolean restrictsOthers =
        one.has("additionalProperties")
            && !one.element("additionalProperties").equals(new JsonPrimitive(true));
    Set<String> known = one.object("properties").keySet();
    if (restrictsOthers && !known.containsAll(other.object("properties").keySet())) {
      throw refusal("additionalProperties");
    }
  }

  private InvalidInputException refusal(String keyword) {
    return new InvalidInputException(
        "the schemas that have to hold together at %s differ in '%s', which cannot be merged;"
                .formatted(pointer, keyword)
            + " expected it in one of them");
  }
}
