package dev.kvasir.grammar;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A set of texts, by what it is made of. Subtrees may be shared; cycles go through a rule. */
sealed interface GrammarExpression {
  /** The empty text alone. */
  GrammarExpression EMPTY = new Sequence(List.of());

  /** For repetitions without an upper bound. */
  int UNBOUNDED = Integer.MAX_VALUE;

  /** These bytes. */
  record Literal(byte[] bytes) implements GrammarExpression {}

  /** One character of these, as UTF-8. */
  record CharacterClass(CodePoints points) implements GrammarExpression {}

  record Sequence(List<GrammarExpression> parts) implements GrammarExpression {
    public Sequence {
      parts = List.copyOf(parts);
    }
  }

  /** Any one of these; of none there is no text. */
  record Choice(List<GrammarExpression> alternatives) implements GrammarExpression {
    public Choice {
      alternatives = List.copyOf(alternatives);
    }
  }

  record Repeat(GrammarExpression part, int min, int max) implements GrammarExpression {}

  /** What a rule stands for, which may contain the call. */
  record Call(Rule rule) implements GrammarExpression {}

  static GrammarExpression literal(String text) {
    return new Literal(text.getBytes(StandardCharsets.UTF_8));
  }

  static GrammarExpression sequence(GrammarExpression... parts) {
    return new Sequence(List.of(parts));
  }

  static GrammarExpression choice(GrammarExpression... alternatives) {
    return new Choice(List.of(alternatives));
  }

  static GrammarExpression optional(GrammarExpression part) {
    return new Repeat(part, 0, 1);
  }

  /** Copies of a part are calls of one rule, so that a high bound costs a state each. */
  static GrammarExpression repeat(GrammarExpression part, int min, int max) {
    boolean copied = max == UNBOUNDED ? min > 1 : max > 1;
    return new Repeat(copied ? asRule(part) : part, min, max);
  }

  /** The same texts behind a rule, to be used in several places at the cost of one. */
  static GrammarExpression asRule(GrammarExpression body) {
    if (body instanceof Call) {
      return body;
    }
    Rule rule = new Rule();
    rule.define(body);
    return new Call(rule);
  }

  /** Parts with something between each two. */
  static GrammarExpression joined(List<GrammarExpression> parts, GrammarExpression between) {
    List<GrammarExpression> all = new ArrayList<>();
    for (GrammarExpression part : parts) {
      if (!all.isEmpty()) {
        all.add(between);
      }
      all.add(part);
    }
    return new Sequence(all);
  }
}
