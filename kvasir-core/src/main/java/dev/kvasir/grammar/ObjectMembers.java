package dev.kvasir.grammar;

import static dev.kvasir.grammar.Expression.choice;
import static dev.kvasir.grammar.Expression.literal;
import static dev.kvasir.grammar.Expression.named;
import static dev.kvasir.grammar.Expression.repeat;
import static dev.kvasir.grammar.Expression.sequence;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Objects of a schema: its members in their order, those that are not required perhaps, then
 * others. Where members are described and nothing is said of others, others do not come.
 */
final class ObjectMembers {
  private record Member(Expression expression, boolean required) {}

  private final List<Member> members = new ArrayList<>();
  private final Expression other; // null where there are none

  ObjectMembers(SchemaGrammar grammar, Schema schema) {
    JsonObject properties = schema.object("properties");
    Set<String> required = new LinkedHashSet<>(schema.strings("required"));
    for (Map.Entry<String, JsonElement> property : properties.entrySet()) {
      String name = property.getKey();
      Expression value = grammar.read(property.getValue(), schema.below("properties", name));
      members.add(member(name, value, required.remove(name)));
    }
    Expression otherValue = otherValue(grammar, schema);
    if (otherValue == null && !required.isEmpty()) {
      throw schema.refusal("required", "expected names in its 'properties' alone");
    }
    required.forEach(name -> members.add(member(name, otherValue, true)));
    Set<String> known = new LinkedHashSet<>(properties.keySet());
    known.addAll(required);
    this.other =
        otherValue == null
            ? null
            : named(sequence(OtherNames.than(known, schema), JsonText.COLON, otherValue));
  }

  private static Member member(String name, Expression value, boolean required) {
    return new Member(named(sequence(JsonText.name(name), JsonText.COLON, value)), required);
  }

  private static Expression otherValue(SchemaGrammar grammar, Schema schema) {
    if (!schema.has("additionalProperties")) {
      return schema.has("properties") ? null : JsonText.VALUE;
    }
    JsonElement additional = schema.element("additionalProperties");
    boolean isNone = additional.equals(new JsonPrimitive(false));
    return isNone ? null : named(grammar.read(additional, schema.below("additionalProperties")));
  }

  /**
   * From the last member to the first: what may follow where no member has come yet, and where one
   * has, so that a comma is due.
   */
  Expression expression() {
    Expression afterNone = other == null ? Expression.EMPTY : JsonText.list(other);
    Expression afterSome =
        other == null
            ? Expression.EMPTY
            : repeat(sequence(JsonText.COMMA, other), 0, Expression.ENDLESS);
    for (Member member : members.reversed()) {
      Expression first = sequence(member.expression, afterSome);
      Expression further = sequence(JsonText.COMMA, member.expression, afterSome);
      afterNone = named(member.required ? first : choice(first, afterNone));
      afterSome = named(member.required ? further : choice(further, afterSome));
    }
    return sequence(literal("{"), afterNone, literal("}"));
  }
}
