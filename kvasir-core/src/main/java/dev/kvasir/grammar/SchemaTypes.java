package dev.kvasir.grammar;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Set;

/** The types of a schema. */
final class SchemaTypes {
  private static final List<String> ALL =
      List.of("object", "array", "string", "number", "integer", "boolean", "null");

  /** Returns the types in the schema's 'type'. */
  static List<String> named(Schema schema) {
    List<String> types =
        schema.element("type").isJsonArray()
            ? schema.strings("type")
            : List.of(schema.string("type"));
    for (String type : types) {
      if (!ALL.contains(type)) {
        throw new InvalidInputException(
            "the schema's 'type' at %s is \"%s\"; expected one or several of %s"
                .formatted(schema.pointer(), type, String.join(", ", ALL)));
      }
    }
    return types;
  }

  /**
   * Returns the types in 'type', or else those that the other keywords apply to. Values of other
   * types would be valid too, but are not the intent of the schema. Empty means any value.
   */
  static List<String> of(Schema schema) {
    if (schema.has("type")) {
      List<String> types = named(schema);
      return types.contains("number")
          ? types.stream().filter(type -> !type.equals("integer")).toList()
          : types;
    }
    if (schema.hasAny("properties", "required", "additionalProperties")) {
      return List.of("object");
    }
    if (schema.hasAny("items", "prefixItems", "minItems", "maxItems")) {
      return List.of("array");
    }
    if (schema.hasAny("minLength", "maxLength", "pattern", "format")) {
      return List.of("string");
    }
    return schema.hasAny("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        ? List.of("number")
        : List.of();
  }

  static boolean isOneOf(JsonElement value, Set<String> types) {
    if (value.isJsonObject()) {
      return types.contains("object");
    }
    if (value.isJsonArray()) {
      return types.contains("array");
    }
    if (!(value instanceof JsonPrimitive primitive)) {
      return types.contains("null");
    }
    if (primitive.isNumber()) {
      return types.contains("number") || types.contains("integer") && isWhole(primitive);
    }
    return types.contains(primitive.isString() ? "string" : "boolean");
  }

  private static boolean isWhole(JsonPrimitive number) {
    try {
      BigDecimal value = number.getAsBigDecimal();
      return value.signum() == 0 || value.stripTrailingZeros().scale() <= 0;
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private SchemaTypes() {}
}
