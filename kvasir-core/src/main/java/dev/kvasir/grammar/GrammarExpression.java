package dev.kvasir.grammar;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** An expression of a grammar. Subexpressions may be shared; recursion goes through a rule. */
sealed interface GrammarExpression {
  /** The empty text. */
  GrammarExpression EMPTY = new Sequence(List.of());

  /** The upper limit of unbounded repetitions. */
  int UNBOUNDED = Integer.MAX_VALUE;

  /** A fixed byte sequence. */
  record Literal(byte[] bytes) implements GrammarExpression {}

  /** One character of a set, as UTF-8. */
  record CharacterClass(CodePoints points) implements GrammarExpression {}

  record Sequence(List<GrammarExpression> parts) implements GrammarExpression {
    public Sequence {
      parts = List.copyOf(parts);
    }
  }

  /** One of several alternatives; without any, no text matches. */
  record Choice(List<GrammarExpression> alternatives) implements GrammarExpression {
    public Choice {
      alternatives = List.copyOf(alternatives);
    }
  }

  record Repeat(GrammarExpression part, int min, int max) implements GrammarExpression {}

  /** A call of a rule, which may be recursive. */
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

  /** Returns a repetition. Copies of a part are calls of one rule, so each costs one state. */
  static GrammarExpression repeat(GrammarExpression part, int min, int max) {
    boolean copied = max == UNBOUNDED ? min > 1 : max > 1;
    return new Repeat(copied ? asRule(part) : part, min, max);
  }

  /** Returns a rule with this body, so that several uses cost one copy. */
  static GrammarExpression asRule(GrammarExpression body) {
    if (body instanceof Call) {
      return body;
    }
    Rule rule = new Rule();
    rule.define(body);
    return new Call(rule);
  }

  /** Joins parts with a separator. */
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
