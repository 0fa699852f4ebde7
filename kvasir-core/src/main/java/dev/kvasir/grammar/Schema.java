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
import java.util.Set;

/**
 * A JSON Schema and its location.
 *
 * @param pointer a JSON pointer into the root schema, after a '#'
 */
record Schema(JsonObject json, String pointer) {
  /** Keywords that assert nothing. */
  private static final Set<String> ANNOTATIONS =
      Set.of(
          ("title description default examples example deprecated readOnly writeOnly "
                  + "contentEncoding contentMediaType $schema $id $comment $defs definitions")
              .split(" "));

  private static final List<String> ASSERTIONS =
      List.of(
          ("type enum const properties required additionalProperties items prefixItems "
                  + "minItems maxItems minLength maxLength pattern format minimum maximum "
                  + "exclusiveMinimum exclusiveMaximum anyOf oneOf allOf $ref")
              .split(" "));

  private static final int MAX_COUNT = 100_000;
  private static final int MAX_DIGITS = 400; // beyond the range of doubles

  /** Checks that all keywords are supported. */
  static Schema of(JsonElement json, String pointer) {
    if (!(json instanceof JsonObject object)) {
      throw new InvalidInputException(
          "the schema at %s is no object; expected one, or true or false".formatted(pointer));
    }
    for (Map.Entry<String, JsonElement> member : object.entrySet()) {
      checkKeyword(member.getKey(), member.getValue(), pointer);
    }
    return new Schema(object, pointer);
  }

  private static void checkKeyword(String keyword, JsonElement value, String pointer) {
    boolean assertsNothing =
        ANNOTATIONS.contains(keyword)
            || keyword.startsWith("x-")
            || keyword.equals("uniqueItems") && value.equals(new JsonPrimitive(false));
    if (!assertsNothing && !ASSERTIONS.contains(keyword)) {
      throw new InvalidInputException(
          "the schema's '%s' at %s is not supported; supported are %s"
              .formatted(keyword, pointer, String.join(", ", ASSERTIONS)));
    }
  }

  static boolean isAnnotation(String keyword) {
    return !ASSERTIONS.contains(keyword);
  }

  /** Returns whether there are assertions other than these. */
  boolean assertsMoreThan(String... keywords) {
    Set<String> known = Set.of(keywords);
    return json.keySet().stream().anyMatch(each -> !isAnnotation(each) && !known.contains(each));
  }

  /** Returns the schema without these keywords. */
  Schema without(String... keywords) {
    Set<String> left = Set.of(keywords);
    JsonObject rest = new JsonObject();
    json.asMap()
        .forEach(
            (key, value) -> {
              if (!left.contains(key)) {
                rest.add(key, value);
              }
            });
    return new Schema(rest, pointer);
  }

  boolean has(String keyword) {
    return json.has(keyword);
  }

  boolean hasAny(String... keywords) {
    return Set.of(keywords).stream().anyMatch(json::has);
  }

  JsonElement element(String keyword) {
    return json.get(keyword);
  }

  /** Returns the JSON pointer of a part of this schema. */
  String pointerTo(String... names) {
    StringBuilder path = new StringBuilder(pointer);
    for (String name : names) {
      path.append('/').append(name.replace("~", "~0").replace("/", "~1"));
    }
    return path.toString();
  }

  JsonObject object(String keyword) {
    if (!has(keyword)) {
      return new JsonObject();
    }
    if (!(element(keyword) instanceof JsonObject object)) {
      throw refusal(keyword, "expected an object");
    }
    return object;
  }

  List<JsonElement> array(String keyword) {
    if (!has(keyword)) {
      return List.of();
    }
    if (!(element(keyword) instanceof JsonArray array)) {
      throw refusal(keyword, "expected an array");
    }
    return array.asList();
  }

  String string(String keyword) {
    if (element(keyword) instanceof JsonPrimitive primitive && primitive.isString()) {
      return primitive.getAsString();
    }
    throw refusal(keyword, "expected a string");
  }

  List<String> strings(String keyword) {
    List<String> all = new ArrayList<>();
    for (JsonElement each : array(keyword)) {
      if (!(each instanceof JsonPrimitive primitive) || !primitive.isString()) {
        throw refusal(keyword, "expected an array of strings");
      }
      all.add(each.getAsString());
    }
    return all;
  }

  int count(String keyword, int absent) {
    if (!has(keyword)) {
      return absent;
    }
    BigDecimal value = number(keyword);
    boolean isCount =
        value.stripTrailingZeros().scale() <= 0
            && value.signum() >= 0
            && value.compareTo(BigDecimal.valueOf(MAX_COUNT)) <= 0;
    if (!isCount) {
      throw refusal(keyword, "expected a whole number from 0 to " + MAX_COUNT);
    }
    return value.intValue();
  }

  /** Returns null if the keyword is absent. */
  BigDecimal number(String keyword) {
    if (!has(keyword)) {
      return null;
    }
    if (element(keyword) instanceof JsonPrimitive primitive && primitive.isNumber()) {
      try {
        BigDecimal value = primitive.getAsBigDecimal();
        boolean isShort =
            Math.abs((long) value.scale()) <= MAX_DIGITS && value.precision() <= MAX_DIGITS;
        if (isShort) {
          return value;
        }
      } catch (NumberFormatException e) {
        throw refusal(keyword, "expected a number");
      }
    }
    throw refusal(keyword, "expected a number of up to %d digits".formatted(MAX_DIGITS));
  }

  /** Returns the error for an unsupported value of a keyword. */
  InvalidInputException refusal(String keyword, String expected) {
    return new InvalidInputException(
        "the schema's '%s' at %s is %s; %s"
            .formatted(keyword, pointer, shortened(element(keyword)), expected));
  }

  private static String shortened(JsonElement value) {
    String text = String.valueOf(value);
    return text.length() <= 100 ? text : text.substring(0, 100) + "...";
  }
}
