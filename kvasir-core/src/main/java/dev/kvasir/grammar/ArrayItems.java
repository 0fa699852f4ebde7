package dev.kvasir.grammar;

import static dev.kvasir.grammar.GrammarExpression.asRule;
import static dev.kvasir.grammar.GrammarExpression.literal;
import static dev.kvasir.grammar.GrammarExpression.optional;
import static dev.kvasir.grammar.GrammarExpression.sequence;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;

/**
 * The grammar of a schema's arrays: the prefix items, then further ones. A schema with prefix items
 * only allows further items if {@code minItems} requires them.
 */
final class ArrayItems {
  private final List<GrammarExpression> first = new ArrayList<>();
  private final GrammarExpression other; // null if not allowed
  private final int minItems;
  private final int maxItems;

  ArrayItems(SchemaGrammar grammar, Schema schema) {
    List<JsonElement> prefix = schema.array("prefixItems");
    for (int i = 0; i < prefix.size(); i++) {
      String pointer = schema.pointerTo("prefixItems", Integer.toString(i));
      first.add(asRule(grammar.read(prefix.get(i), pointer)));
    }
    this.minItems = schema.count("minItems", 0);
    this.maxItems = schema.count("maxItems", GrammarExpression.UNBOUNDED);
    if (maxItems < minItems) {
      throw schema.refusal("maxItems", "expected 'minItems' or more, which is " + minItems);
    }
    this.other = other(grammar, schema);
    if (other == null && minItems > first.size()) {
      throw schema.refusal("minItems", "expected no more than there are items, " + first.size());
    }
  }

  private GrammarExpression other(SchemaGrammar grammar, Schema schema) {
    if (!schema.has("items")) {
      return first.isEmpty() || minItems > first.size() ? JsonExpressions.VALUE : null;
    }
    JsonElement items = schema.element("items");
    boolean isNone = items.equals(new JsonPrimitive(false));
    if (items.isJsonArray()) {
      throw schema.refusal("items", "expected a schema; items one by one are 'prefixItems'");
    }
    return isNone ? null : asRule(grammar.read(items, schema.pointerTo("items")));
  }

  /** Builds the array from the last item to the first, each with its comma. */
  GrammarExpression expression() {
    int described = Math.min(first.size(), maxItems);
    GrammarExpression rest = others(described);
    for (int count = described - 1; count >= 0; count--) {
      rest = asRule(maybe(count, sequence(comma(count), first.get(count), rest)));
    }
    return sequence(literal("["), rest, literal("]"));
  }

  private GrammarExpression others(int count) {
    if (other == null || count >= maxItems) {
      return GrammarExpression.EMPTY;
    }
    return count == 0 ? maybe(0, sequence(other, further(1))) : further(count);
  }

  private GrammarExpression further(int count) {
    return GrammarExpression.repeat(
        asRule(sequence(JsonExpressions.COMMA, other)),
        Math.max(0, minItems - count),
        maxItems == GrammarExpression.UNBOUNDED ? maxItems : maxItems - count);
  }

  private GrammarExpression maybe(int count, GrammarExpression more) {
    return count < minItems ? more : optional(more);
  }

  private static GrammarExpression comma(int count) {
    return count == 0 ? GrammarExpression.EMPTY : JsonExpressions.COMMA;
  }
}
