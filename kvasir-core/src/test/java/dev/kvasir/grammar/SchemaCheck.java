package dev.kvasir.grammar;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A JSON Schema validator, independent of grammars. */
final class SchemaCheck {
  private final JsonObject root;

  SchemaCheck(JsonObject root) {
    this.root = root;
  }

  boolean isValid(JsonElement value) {
    return isValid(root, value);
  }

  private boolean isValid(JsonElement any, JsonElement value) {
    if (any.isJsonPrimitive()) {
      return any.getAsBoolean();
    }
    JsonObject schema = any.getAsJsonObject();
    return isReferred(schema, value)
        && isTyped(schema, value)
        && isNamed(schema, value)
        && isCombined(schema, value)
        && isInside(schema, value);
  }

  private boolean isReferred(JsonObject schema, JsonElement value) {
    if (!schema.has("$ref")) {
      return true;
    }
    JsonElement target = root;
    for (String name : schema.get("$ref").getAsString().replaceFirst("^#/?", "").split("/")) {
      target = name.isEmpty() ? target : target.getAsJsonObject().get(name);
    }
    return isValid(target, value);
  }

  private static boolean isTyped(JsonObject schema, JsonElement value) {
    if (!schema.has("type")) {
      return true;
    }
    JsonElement type = schema.get("type");
    Stream<JsonElement> types =
        type.isJsonArray() ? type.getAsJsonArray().asList().stream() : Stream.of(type);
    return types.anyMatch(each -> hasType(value, each.getAsString()));
  }

  private static boolean hasType(JsonElement value, String type) {
    return switch (type) {
      case "object" -> value.isJsonObject();
      case "array" -> value.isJsonArray();
      case "null" -> value.isJsonNull();
      case "string" -> value instanceof JsonPrimitive p && p.isString();
      case "boolean" -> value instanceof JsonPrimitive p && p.isBoolean();
      case "number" -> value instanceof JsonPrimitive p && p.isNumber();
      case "integer" ->
          value instanceof JsonPrimitive p
              && p.isNumber()
              && p.getAsBigDecimal().remainder(BigDecimal.ONE).signum() == 0;
      default -> throw new AssertionError(type);
    };
  }

  private static boolean isNamed(JsonObject schema, JsonElement value) {
    return (!schema.has("const") || schema.get("const").equals(value))
        && (!schema.has("enum") || schema.getAsJsonArray("enum").contains(value));
  }

  private boolean isCombined(JsonObject schema, JsonElement value) {
    return all(schema, "allOf").allMatch(each -> isValid(each, value))
        && (!schema.has("anyOf") || all(schema, "anyOf").anyMatch(each -> isValid(each, value)))
        && (!schema.has("oneOf")
            || all(schema, "oneOf").filter(each -> isValid(each, value)).count() == 1);
  }

  private static Stream<JsonElement> all(JsonObject schema, String keyword) {
    return schema.has(keyword) ? schema.getAsJsonArray(keyword).asList().stream() : Stream.empty();
  }

  private boolean isInside(JsonObject schema, JsonElement value) {
    if (value.isJsonObject()) {
      return isObject(schema, value.getAsJsonObject());
    }
    if (value.isJsonArray()) {
      return isArray(schema, value.getAsJsonArray().asList());
    }
    if (value instanceof JsonPrimitive primitive && primitive.isString()) {
      return isString(schema, primitive.getAsString());
    }
    return !(value instanceof JsonPrimitive primitive)
        || !primitive.isNumber()
        || isNumber(schema, primitive.getAsBigDecimal());
  }

  private boolean isObject(JsonObject schema, JsonObject value) {
    if (!all(schema, "required").allMatch(name -> value.has(name.getAsString()))) {
      return false;
    }
    JsonObject properties =
        schema.has("properties") ? schema.getAsJsonObject("properties") : new JsonObject();
    for (Map.Entry<String, JsonElement> member : value.entrySet()) {
      JsonElement part = properties.get(member.getKey());
      part = part == null ? schema.get("additionalProperties") : part;
      if (part != null && !isValid(part, member.getValue())) {
        return false;
      }
    }
    return true;
  }

  private boolean isArray(JsonObject schema, List<JsonElement> value) {
    List<JsonElement> first = all(schema, "prefixItems").toList();
    for (int i = 0; i < value.size(); i++) {
      JsonElement part = i < first.size() ? first.get(i) : schema.get("items");
      if (part != null && !isValid(part, value.get(i))) {
        return false;
      }
    }
    return isWithin(schema, "minItems", "maxItems", BigDecimal.valueOf(value.size()));
  }

  private static boolean isString(JsonObject schema, String value) {
    int length = value.codePointCount(0, value.length());
    return isWithin(schema, "minLength", "maxLength", BigDecimal.valueOf(length))
        && (!schema.has("pattern")
            || Pattern.compile(schema.get("pattern").getAsString()).matcher(value).find())
        && (!schema.has("format") || hasFormat(schema.get("format").getAsString(), value));
  }

  private static boolean hasFormat(String format, String value) {
    try {
      return switch (format) {
        case "date" -> LocalDate.parse(value) != null;
        case "time" -> OffsetTime.parse(value) != null;
        case "date-time" -> OffsetDateTime.parse(value) != null;
        case "uuid" -> UUID.fromString(value).toString().equalsIgnoreCase(value);
        default -> true;
      };
    } catch (DateTimeException | IllegalArgumentException e) {
      return false;
    }
  }

  private static boolean isNumber(JsonObject schema, BigDecimal value) {
    return isWithin(schema, "minimum", "maximum", value)
        && (!schema.has("exclusiveMinimum")
            || value.compareTo(schema.get("exclusiveMinimum").getAsBigDecimal()) > 0)
        && (!schema.has("exclusiveMaximum")
            || value.compareTo(schema.get("exclusiveMaximum").getAsBigDecimal()) < 0);
  }

  private static boolean isWithin(JsonObject schema, String least, String most, BigDecimal value) {
    return (!schema.has(least) || value.compareTo(schema.get(least).getAsBigDecimal()) >= 0)
        && (!schema.has(most) || value.compareTo(schema.get(most).getAsBigDecimal()) <= 0);
  }
}
