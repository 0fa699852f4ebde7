package dev.kvasir.grammar;

import static dev.kvasir.grammar.GrammarExpression.asRule;
import static dev.kvasir.grammar.GrammarExpression.choice;
import static dev.kvasir.grammar.GrammarExpression.literal;
import static dev.kvasir.grammar.GrammarExpression.repeat;
import static dev.kvasir.grammar.GrammarExpression.sequence;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The grammar of a schema's objects: declared properties in order, optional ones possibly omitted,
 * then additional ones. A schema with properties that does not mention additional ones excludes
 * them.
 */
final class ObjectMembers {
  private record Member(GrammarExpression expression, boolean required) {}

  private final List<Member> members = new ArrayList<>();
  private final GrammarExpression other; // null if not allowed

  ObjectMembers(SchemaGrammar grammar, Schema schema) {
    JsonObject properties = schema.object("properties");
    Set<String> required = new LinkedHashSet<>(schema.strings("required"));
    for (Map.Entry<String, JsonElement> property : properties.entrySet()) {
      String name = property.getKey();
      GrammarExpression value =
          grammar.read(property.getValue(), schema.pointerTo("properties", name));
      members.add(member(name, value, required.remove(name)));
    }
    GrammarExpression otherValue = otherValue(grammar, schema);
    if (otherValue == null && !required.isEmpty()) {
      throw schema.refusal("required", "expected names in its 'properties' alone");
    }
    required.forEach(name -> members.add(member(name, otherValue, true)));
    Set<String> known = new LinkedHashSet<>(properties.keySet());
    known.addAll(required);
    this.other =
        otherValue == null
            ? null
            : asRule(
                sequence(
                    AdditionalNames.excluding(known, schema), JsonExpressions.COLON, otherValue));
  }

  private static Member member(String name, GrammarExpression value, boolean required) {
    return new Member(
        asRule(sequence(JsonExpressions.name(name), JsonExpressions.COLON, value)), required);
  }

  private static GrammarExpression otherValue(SchemaGrammar grammar, Schema schema) {
    if (!schema.has("additionalProperties")) {
      return schema.has("properties") ? null : JsonExpressions.VALUE;
    }
    JsonElement additional = schema.element("additionalProperties");
    boolean isNone = additional.equals(new JsonPrimitive(false));
    return isNone
        ? null
        : asRule(grammar.read(additional, schema.pointerTo("additionalProperties")));
  }

  /**
   * Builds the object from the last property to the first, each once without and once with a
   * preceding property, which requires a comma.
   */
  GrammarExpression expression() {
    GrammarExpression afterNone =
        other == null ? GrammarExpression.EMPTY : JsonExpressions.list(other);
    GrammarExpression afterSome =
        other == null
            ? GrammarExpression.EMPTY
            : repeat(sequence(JsonExpressions.COMMA, other), 0, GrammarExpression.UNBOUNDED);
    for (Member member : members.reversed()) {
      GrammarExpression first = sequence(member.expression, afterSome);
      GrammarExpression further = sequence(JsonExpressions.COMMA, member.expression, afterSome);
      afterNone = asRule(member.required ? first : choice(first, afterNone));
      afterSome = asRule(member.required ? further : choice(further, afterSome));
    }
    return sequence(literal("{"), afterNone, literal("}"));
  }
}
