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

/**
 * Compiles schemas to expressions. The target of a '$ref' becomes a rule, so it may be recursive.
 */
final class SchemaGrammar {
  private static final int MAX_DEPTH = 200;

  private final SchemaReferences references;
  private final Map<String, Rule> named = new HashMap<>();
  private int depth;

  private SchemaGrammar(JsonObject root) {
    this.references = new SchemaReferences(root);
  }

  static GrammarExpression of(JsonObject schema) {
    return new SchemaGrammar(schema).read(schema, "#");
  }

  GrammarExpression read(JsonElement element, String pointer) {
    if (element instanceof JsonPrimitive primitive && primitive.isBoolean()) {
      return primitive.getAsBoolean() ? JsonExpressions.VALUE : GrammarExpression.choice();
    }
    return read(Schema.of(element, pointer));
  }

  private GrammarExpression read(Schema schema) {
    if (++depth > MAX_DEPTH) {
      throw new InvalidInputException(
          "the schema at %s lies deeper than %d levels; expected '$ref' for what repeats"
              .formatted(schema.pointer(), MAX_DEPTH));
    }
    GrammarExpression expression;
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

  private GrammarExpression call(Schema schema) {
    String reference = schema.string("$ref");
    Rule rule = named.get(reference);
    if (rule == null) {
      rule = new Rule();
      named.put(reference, rule);
      rule.define(read(references.target(schema), reference));
    }
    return new GrammarExpression.Call(rule);
  }

  private GrammarExpression readFlat(Schema schema) {
    if (schema.hasAny("anyOf", "oneOf")) {
      return alternatives(schema);
    }
    if (schema.hasAny("enum", "const")) {
      return values(schema);
    }
    List<String> types = SchemaTypes.of(schema);
    if (types.isEmpty() && !schema.has("type")) {
      return JsonExpressions.VALUE;
    }
    return new GrammarExpression.Choice(types.stream().map(type -> typed(schema, type)).toList());
  }

  private GrammarExpression typed(Schema schema, String type) {
    return switch (type) {
      case "object" -> new ObjectMembers(this, schema).expression();
      case "array" -> new ArrayItems(this, schema).expression();
      case "string" -> StringSchema.of(schema);
      case "number" -> number(schema, false);
      case "integer" -> number(schema, true);
      case "boolean" -> JsonExpressions.BOOLEAN;
      default -> JsonExpressions.NULL;
    };
  }

  /** Returns the alternatives, each merged with the keywords next to them. */
  private GrammarExpression alternatives(Schema schema) {
    String keyword = schema.has("anyOf") ? "anyOf" : "oneOf";
    if (schema.has("anyOf") && schema.has("oneOf")) {
      throw schema.refusal("oneOf", "expected no 'anyOf' next to it");
    }
    Schema common = schema.without(keyword);
    List<GrammarExpression> each = new ArrayList<>();
    int index = 0;
    for (JsonElement alternative : schema.array(keyword)) {
      String pointer = schema.pointerTo(keyword, Integer.toString(index++));
      boolean isAlone = alternative instanceof JsonPrimitive || !common.assertsMoreThan();
      each.add(
          isAlone
              ? read(alternative, pointer)
              : read(references.merge(common, alternative, pointer)));
    }
    return new GrammarExpression.Choice(each);
  }

  /** Returns the values of 'enum' or 'const' that have one of the schema's types. */
  private GrammarExpression values(Schema schema) {
    if (schema.assertsMoreThan("enum", "const", "type")) {
      throw new InvalidInputException(
          "the schema's 'enum' or 'const' at %s has other assertions next to it; expected 'type' at"
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
    return new GrammarExpression.Choice(values.stream().map(JsonExpressions::exactly).toList());
  }

  private static GrammarExpression number(Schema schema, boolean whole) {
    BigDecimal least = schema.number("minimum");
    BigDecimal above = schema.number("exclusiveMinimum");
    BigDecimal most = schema.number("maximum");
    BigDecimal below = schema.number("exclusiveMaximum");
    if (least == null && above == null && most == null && below == null) {
      return whole ? JsonExpressions.INTEGER : JsonExpressions.NUMBER;
    }
    boolean isAbove = above != null && (least == null || above.compareTo(least) >= 0);
    boolean isBelow = below != null && (most == null || below.compareTo(most) <= 0);
    return GrammarExpression.asRule(
        new NumberRange(isAbove ? above : least, isAbove, isBelow ? below : most, isBelow, whole)
            .expression());
  }
}
