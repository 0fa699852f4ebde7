package dev.kvasir.grammar;

import static dev.kvasir.grammar.Expression.named;
import static dev.kvasir.grammar.Expression.repeat;
import static dev.kvasir.grammar.Expression.sequence;

import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Names of members other than some, written without escapes: those could spell the names too. */
final class OtherNames {
  private static final int LONGEST = 500;

  private static final Expression REST =
      named(
          sequence(repeat(JsonText.oneOf(JsonText.PLAIN), 0, Expression.ENDLESS), JsonText.QUOTE));

  /** A tree of names by their characters. */
  private static final class Node {
    private final Map<Integer, Node> next = new TreeMap<>();
    private boolean isName;
  }

  static Expression than(Set<String> names, Schema schema) {
    if (names.isEmpty()) {
      return JsonText.STRING;
    }
    Node root = new Node();
    for (String name : names) {
      if (name.length() > LONGEST) {
        throw new InvalidInputException(
            "a property at %s has a name of %d characters; expected %d at the most where others may come"
                .formatted(schema.pointer(), name.length(), LONGEST));
      }
      Node node = root;
      for (int c : name.codePoints().toArray()) {
        node = node.next.computeIfAbsent(c, key -> new Node());
      }
      node.isName = true;
    }
    return sequence(JsonText.QUOTE, from(root));
  }

  private static Expression from(Node node) {
    List<Expression> ways = new ArrayList<>();
    CodePoints others = JsonText.PLAIN;
    for (Map.Entry<Integer, Node> child : node.next.entrySet()) {
      CodePoints character = CodePoints.of(child.getKey()).and(JsonText.PLAIN);
      if (!character.isEmpty()) {
        others = others.minus(character);
        ways.add(sequence(JsonText.oneOf(character), from(child.getValue())));
      }
    }
    ways.add(sequence(JsonText.oneOf(others), REST));
    if (!node.isName) {
      ways.add(JsonText.QUOTE);
    }
    return new Expression.Choice(ways);
  }

  private OtherNames() {}
}
