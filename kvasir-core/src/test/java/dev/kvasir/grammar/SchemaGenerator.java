package dev.kvasir.grammar;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.util.List;
import java.util.Random;

/** Generates random schemas, each with a valid value. */
final class SchemaGenerator {
  /** A schema and a valid value. */
  record SchemaWithValue(JsonObject schema, JsonElement value) {}

  private static final List<String> STRINGS =
      List.of(
          "", "a", "\"quoted\"", "back\\slash", "\u00FC\u4E2D\uD83D\uDE00", "two\nlines", "\u0001");

  /** Patterns, each with a matching string. */
  private static final List<List<String>> PATTERNS =
      List.of(
          List.of("^[a-z]{2,4}$", "abc"),
          List.of("^(foo|ba[rz])+-\\d*$", "foobaz-17"),
          List.of("needle", "hay needle hay"),
          List.of("^[^\"x][ \\t]?\"$", "\u4E2D \""),
          List.of("^a|b$", "xyb"),
          List.of("^(?:[A-Z]\\w+ ?){1,3}", "Ab Cd!"));

  private final Random random;
  private int nodes;

  SchemaGenerator(long seed) {
    this.random = new Random(seed);
  }

  /** Generates a schema with a recursive definition that its parts may reference. */
  SchemaWithValue make() {
    SchemaWithValue example = schema(3);
    JsonObject definitions = new JsonObject();
    definitions.add(
        "tree",
        AcceptedTexts.schema(
            "{'type': 'object', 'properties': {'left': {'anyOf': [{'$ref': '#/$defs/tree'},"
                + " {'type': 'null'}]}, 'of': {'type': 'array', 'maxItems': 3, 'items': {'$ref':"
                + " '#/$defs/tree'}}}, 'required': ['left'], 'additionalProperties': false}"));
    example.schema.add("$defs", definitions);
    return example;
  }

  private SchemaWithValue schema(int depth) {
    nodes++;
    return switch (random.nextInt(depth == 0 || nodes > 15 ? 9 : 14)) {
      case 0 ->
          new SchemaWithValue(typed("string"), string(STRINGS.get(random.nextInt(STRINGS.size()))));
      case 1 -> bounded();
      case 2 -> patterned();
      case 3 -> formatted();
      case 4 -> number(true);
      case 5 -> number(false);
      case 6 -> enumerated();
      case 7 -> new SchemaWithValue(typed("boolean"), new JsonPrimitive(random.nextBoolean()));
      case 8 -> listed();
      case 9 -> alternatives(depth);
      case 10 -> array(depth);
      case 11 -> referring();
      default -> object(depth);
    };
  }

  private static JsonObject typed(String type) {
    JsonObject schema = new JsonObject();
    schema.addProperty("type", type);
    return schema;
  }

  private static JsonPrimitive string(String value) {
    return new JsonPrimitive(value);
  }

  private SchemaWithValue bounded() {
    String value = STRINGS.get(random.nextInt(STRINGS.size()));
    int length = value.codePointCount(0, value.length());
    JsonObject schema = typed("string");
    schema.addProperty("minLength", random.nextInt(length + 1));
    if (random.nextBoolean()) {
      schema.addProperty("maxLength", length + random.nextInt(20));
    }
    return new SchemaWithValue(schema, string(value));
  }

  private SchemaWithValue patterned() {
    List<String> pattern = PATTERNS.get(random.nextInt(PATTERNS.size()));
    JsonObject schema = typed("string");
    schema.addProperty("pattern", pattern.get(0));
    return new SchemaWithValue(schema, string(pattern.get(1)));
  }

  private SchemaWithValue formatted() {
    List<String> formats =
        List.of(
            "date",
            "2024-02-29",
            "time",
            "23:59:59.5Z",
            "date-time",
            "1999-12-31T00:00:00+01:30",
            "uuid",
            "123e4567-e89b-12d3-a456-426614174000",
            "email",
            "whatever");
    int which = 2 * random.nextInt(formats.size() / 2);
    JsonObject schema = typed("string");
    schema.addProperty("format", formats.get(which));
    return new SchemaWithValue(schema, string(formats.get(which + 1)));
  }

  private SchemaWithValue number(boolean whole) {
    int scale = whole ? 0 : random.nextInt(4);
    BigDecimal value = BigDecimal.valueOf(random.nextInt(20_001) - 10_000, scale);
    JsonObject schema = typed(whole ? "integer" : "number");
    BigDecimal below = BigDecimal.valueOf(random.nextInt(1000), random.nextInt(4));
    BigDecimal above = BigDecimal.valueOf(1 + random.nextInt(1000), random.nextInt(4));
    switch (random.nextInt(4)) {
      case 0 -> schema.addProperty("minimum", value.subtract(below));
      case 1 -> schema.addProperty("exclusiveMaximum", value.add(above));
      case 2 -> {
        schema.addProperty("minimum", value.subtract(below));
        schema.addProperty("maximum", value.add(above));
      }
      default -> {}
    }
    return new SchemaWithValue(schema, new JsonPrimitive(value));
  }

  private SchemaWithValue enumerated() {
    JsonArray values = new JsonArray();
    values.add("red");
    values.add("re\"d");
    values.add(17);
    values.add(JsonNull.INSTANCE);
    values.add(AcceptedTexts.schema("{'a': [1, 'x'], 'b': {}}"));
    JsonObject schema = new JsonObject();
    JsonElement value = values.get(random.nextInt(values.size()));
    schema.add(random.nextBoolean() ? "enum" : "const", value);
    if (schema.has("enum")) {
      schema.add("enum", values);
    }
    return new SchemaWithValue(schema, value);
  }

  private SchemaWithValue listed() {
    JsonArray types = new JsonArray();
    types.add("integer");
    types.add("null");
    types.add("string");
    JsonObject schema = new JsonObject();
    schema.add("type", types);
    return new SchemaWithValue(
        schema, random.nextBoolean() ? JsonNull.INSTANCE : new JsonPrimitive(-5));
  }

  private SchemaWithValue alternatives(int depth) {
    SchemaWithValue first = schema(depth - 1);
    JsonArray alternatives = new JsonArray();
    alternatives.add(first.schema);
    alternatives.add(schema(depth - 1).schema);
    JsonObject schema = new JsonObject();
    schema.addProperty("description", "one or the other");
    schema.add("anyOf", alternatives);
    return new SchemaWithValue(schema, first.value);
  }

  private SchemaWithValue array(int depth) {
    JsonObject schema = typed("array");
    JsonArray value = new JsonArray();
    int first = random.nextInt(3);
    if (first > 0) {
      JsonArray prefix = new JsonArray();
      for (int i = 0; i < first; i++) {
        SchemaWithValue item = schema(depth - 1);
        prefix.add(item.schema);
        value.add(item.value);
      }
      schema.add("prefixItems", prefix);
    }
    if (first == 0 || random.nextBoolean()) {
      SchemaWithValue item = schema(depth - 1);
      schema.add("items", item.schema);
      for (int i = random.nextInt(3); i > 0; i--) {
        value.add(item.value);
      }
    }
    if (random.nextBoolean()) {
      schema.addProperty("minItems", random.nextInt(value.size() + 1));
      schema.addProperty("maxItems", value.size() + random.nextInt(3));
    }
    return new SchemaWithValue(schema, value);
  }

  private SchemaWithValue referring() {
    JsonObject schema = new JsonObject();
    schema.addProperty("$ref", "#/$defs/tree");
    return new SchemaWithValue(
        schema, AcceptedTexts.schema("{'left': {'left': null, 'of': [{'left': null}]}}"));
  }

  private SchemaWithValue object(int depth) {
    JsonObject schema = typed("object");
    JsonObject properties = new JsonObject();
    JsonArray required = new JsonArray();
    JsonObject value = new JsonObject();
    for (String name : List.of("a", "ab", "\u00FC\"", "d").subList(0, random.nextInt(5))) {
      SchemaWithValue member = schema(depth - 1);
      properties.add(name, member.schema);
      boolean isRequired = random.nextBoolean();
      if (isRequired) {
        required.add(name);
      }
      if (isRequired || random.nextBoolean()) {
        value.add(name, member.value);
      }
    }
    schema.add("properties", properties);
    schema.add("required", required);
    if (random.nextBoolean()) {
      SchemaWithValue other = schema(depth - 1);
      schema.add(
          "additionalProperties", random.nextInt(3) == 0 ? new JsonPrimitive(true) : other.schema);
      value.add("abc", other.value);
    } else if (random.nextBoolean()) {
      schema.addProperty("additionalProperties", false);
    }
    return new SchemaWithValue(schema, value);
  }
}
