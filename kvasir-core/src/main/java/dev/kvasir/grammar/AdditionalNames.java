package dev.kvasir.grammar;

import static dev.kvasir.grammar.GrammarExpression.asRule;
import static dev.kvasir.grammar.GrammarExpression.repeat;
import static dev.kvasir.grammar.GrammarExpression.sequence;

import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The names of additional properties: any name but the declared ones. They have no escapes, which
 * could spell a declared name.
 */
final class AdditionalNames {
  private static final int MAX_NAME_LENGTH = 500;

  private static final GrammarExpression REST =
      asRule(
          sequence(
              repeat(
                  JsonExpressions.characterClass(JsonExpressions.PLAIN),
                  0,
                  GrammarExpression.UNBOUNDED),
              JsonExpressions.QUOTE));

  /** A trie of names. */
  private static final class Node {
    private final Map<Integer, Node> next = new TreeMap<>();
    private boolean isName;
  }

  static GrammarExpression excluding(Set<String> names, Schema schema) {
    if (names.isEmpty()) {
      return JsonExpressions.STRING;
    }
    Node root = new Node();
    for (String name : names) {
      if (name.length() > MAX_NAME_LENGTH) {
        throw new InvalidInputException(
            "a property at %s has a name of %d characters; expected %d at the most where others may come"
                .formatted(schema.pointer(), name.length(), MAX_NAME_LENGTH));
      }
      Node node = root;
      for (int c : name.codePoints().toArray()) {
        node = node.next.computeIfAbsent(c, key -> new Node());
      }
      node.isName = true;
    }
    return sequence(JsonExpressions.QUOTE, from(root));
  }

  private static GrammarExpression from(Node node) {
    List<GrammarExpression> ways = new ArrayList<>();
    CodePoints others = JsonExpressions.PLAIN;
    for (Map.Entry<Integer, Node> child : node.next.entrySet()) {
      CodePoints character = CodePoints.of(child.getKey()).and(JsonExpressions.PLAIN);
      if (!character.isEmpty()) {
        others = others.minus(character);
        ways.add(sequence(JsonExpressions.characterClass(character), from(child.getValue())));
      }
    }
    ways.add(sequence(JsonExpressions.characterClass(others), REST));
    if (!node.isName) {
      ways.add(JsonExpressions.QUOTE);
    }
    return new GrammarExpression.Choice(ways);
  }

  private AdditionalNames() {}
}
