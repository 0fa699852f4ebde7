package dev.kvasir.grammar;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Makes expressions of schemas. What a '$ref' names becomes a rule, so it may name itself. */
final class SchemaGrammar {
  private static final int DEEPEST = 200;

  private final SchemaReferences references;
  private final Map<String, Rule> named = new HashMap<>();
  private int depth;

  private SchemaGrammar(JsonObject root) {
    this.references = new SchemaReferences(root);
  }

  static Expression of(JsonObject schema) {
    return new SchemaGrammar(schema).read(schema, "#");
  }

  Expression read(JsonElement element, String pointer) {
    if (element instanceof JsonPrimitive primitive && primitive.isBoolean()) {
      return primitive.getAsBoolean() ? JsonText.VALUE : Expression.choice();
    }
    return read(Schema.of(element, pointer));
  }

  private Expression read(Schema schema) {
    if (++depth > DEEPEST) {
      throw new InvalidInputException(
          "the schema at %s lies deeper than %d levels; expected '$ref' for what repeats"
              .formatted(schema.pointer(), DEEPEST));
    }
    Expression expression;
    if (schema.has("$ref") && !schema.assertsMoreThan("$ref")) {
      expression = call(schema);
    } else if (schema.hasAny("$ref", "allOf")) {
      expression = readFlat(references.flatten(schema));
    } else {
      expression = readFlat(schema);
    }
    depth--;
    return expression;
  }

  private Expression call(Schema schema) {
    String reference = schema.string("$ref");
    Rule rule = named.get(reference);
    if (rule == null) {
      rule = new Rule();
      named.put(reference, rule);
      rule.define(read(references.target(schema), reference));
    }
    return new Expression.Call(rule);
  }

  private Expression readFlat(Schema schema) {
    if (schema.hasAny("anyOf", "oneOf")) {
      return alternatives(schema);
    }
    if (schema.hasAny("enum", "const")) {
      return values(schema);
    }
    List<String> types = SchemaTypes.of(schema);
    if (types.isEmpty() && !schema.has("type")) {
      return JsonText.VALUE;
    }
    return new Expression.Choice(types.stream().map(type -> typed(schema, type)).toList());
  }

  private Expression typed(Schema schema, String type) {
    return switch (type) {
      case "object" -> new ObjectMembers(this, schema).expression();
      case "array" -> new ArrayItems(this, schema).expression();
      case "string" -> StringText.of(schema);
      case "number" -> number(schema, false);
      case "integer" -> number(schema, true);
      case "boolean" -> JsonText.BOOLEAN;
      default -> JsonText.NULL;
    };
  }

  /** Each of them with what stands beside them. */
  private Expression alternatives(Schema schema) {
    String keyword = schema.has("anyOf") ? "anyOf" : "oneOf";
    if (schema.has("anyOf") && schema.has("oneOf")) {
      throw schema.refusal("oneOf", "expected no 'anyOf' beside it");
    }
    Schema beside = schema.without(keyword);
    List<Expression> each = new ArrayList<>();
    int index = 0;
    for (JsonElement alternative : schema.array(keyword)) {
      String pointer = schema.below(keyword, Integer.toString(index++));
      boolean isAlone = alternative instanceof JsonPrimitive || !beside.assertsMoreThan();
      each.add(
          isAlone
              ? read(alternative, pointer)
              : read(references.merge(beside, alternative, pointer)));
    }
    return new Expression.Choice(each);
  }

  /** The values that an 'enum' or a 'const' names, those of the schema's types. */
  private Expression values(Schema schema) {
    if (schema.assertsMoreThan("enum", "const", "type")) {
      throw new InvalidInputException(
          "the schema's 'enum' or 'const' at %s has other assertions beside it; expected 'type' at"
                  .formatted(schema.pointer())
              + " the most");
    }
    List<JsonElement> values = new ArrayList<>(schema.array("enum"));
    if (schema.has("const")) {
      boolean isLeft = !schema.has("enum") || values.contains(schema.element("const"));
      values = isLeft ? List.of(schema.element("const")) : List.of();
    }
    if (schema.has("type")) {
      Set<String> types = new HashSet<>(SchemaTypes.named(schema));
      values = values.stream().filter(value -> SchemaTypes.isOneOf(value, types)).toList();
    }
    if (values.isEmpty()) {
      throw new InvalidInputException(
          "the schema at %s leaves no value; expected one in its 'enum' or 'const' that has its type"
              .formatted(schema.pointer()));
    }
    return new Expression.Choice(values.stream().map(JsonText::exactly).toList());
  }

  private static Expression number(Schema schema, boolean whole) {
    BigDecimal least = schema.number("minimum");
    BigDecimal above = schema.number("exclusiveMinimum");
    BigDecimal most = schema.number("maximum");
    BigDecimal below = schema.number("exclusiveMaximum");
    if (least == null && above == null && most == null && below == null) {
      return whole ? JsonText.INTEGER : JsonText.NUMBER;
    }
    boolean isAbove = above != null && (least == null || above.compareTo(least) >= 0);
    boolean isBelow = below != null && (most == null || below.compareTo(most) <= 0);
    return Expression.named(
        new NumberRange(isAbove ? above : least, isAbove, isBelow ? below : most, isBelow, whole)
            .expression());
  }
}
