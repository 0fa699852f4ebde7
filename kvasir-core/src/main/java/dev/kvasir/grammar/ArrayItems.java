package dev.kvasir.grammar;

import static dev.kvasir.grammar.Expression.literal;
import static dev.kvasir.grammar.Expression.named;
import static dev.kvasir.grammar.Expression.optional;
import static dev.kvasir.grammar.Expression.sequence;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;

/**
 * Arrays of a schema: its first items one by one, then others. Where only the first are described,
 * others do not come unless there must be more.
 */
final class ArrayItems {
  private final List<Expression> first = new ArrayList<>();
  private final Expression other; // null where there are none
  private final int least;
  private final int most;

  ArrayItems(SchemaGrammar grammar, Schema schema) {
    List<JsonElement> prefix = schema.array("prefixItems");
    for (int i = 0; i < prefix.size(); i++) {
      String pointer = schema.below("prefixItems", Integer.toString(i));
      first.add(named(grammar.read(prefix.get(i), pointer)));
    }
    this.least = schema.count("minItems", 0);
    this.most = schema.count("maxItems", Expression.ENDLESS);
    if (most < least) {
      throw schema.refusal("maxItems", "expected 'minItems' or more, which is " + least);
    }
    this.other = other(grammar, schema);
    if (other == null && least > first.size()) {
      throw schema.refusal("minItems", "expected no more than there are items, " + first.size());
    }
  }

  private Expression other(SchemaGrammar grammar, Schema schema) {
    if (!schema.has("items")) {
      return first.isEmpty() || least > first.size() ? JsonText.VALUE : null;
    }
    JsonElement items = schema.element("items");
    boolean isNone = items.equals(new JsonPrimitive(false));
    if (items.isJsonArray()) {
      throw schema.refusal("items", "expected a schema; items one by one are 'prefixItems'");
    }
    return isNone ? null : named(grammar.read(items, schema.below("items")));
  }

  /** From the last item to the first: what may follow as many, its comma included. */
  Expression expression() {
    int described = Math.min(first.size(), most);
    Expression rest = others(described);
    for (int count = described - 1; count >= 0; count--) {
      rest = named(maybe(count, sequence(comma(count), first.get(count), rest)));
    }
    return sequence(literal("["), rest, literal("]"));
  }

  private Expression others(int count) {
    if (other == null || count >= most) {
      return Expression.EMPTY;
    }
    return count == 0 ? maybe(0, sequence(other, further(1))) : further(count);
  }

  private Expression further(int count) {
    return Expression.repeat(
        named(sequence(JsonText.COMMA, other)),
        Math.max(0, least - count),
        most == Expression.ENDLESS ? most : most - count);
  }

  private Expression maybe(int count, Expression more) {
    return count < least ? more : optional(more);
  }

  private static Expression comma(int count) {
    return count == 0 ? Expression.EMPTY : JsonText.COMMA;
  }
}
