package dev.kvasir.grammar;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A set of texts, by what it is made of. Subtrees may be shared; cycles go through a rule. */
sealed interface Expression {
  /** The empty text alone. */
  Expression EMPTY = new Sequence(List.of());

  /** For repetitions without an upper bound. */
  int ENDLESS = Integer.MAX_VALUE;

  /** These bytes. */
  record Literal(byte[] bytes) implements Expression {}

  /** One character of these, as UTF-8. */
  record OneOf(CodePoints points) implements Expression {}

  record Sequence(List<Expression> parts) implements Expression {
    public Sequence {
      parts = List.copyOf(parts);
    }
  }

  /** Any one of these; of none there is no text. */
  record Choice(List<Expression> alternatives) implements Expression {
    public Choice {
      alternatives = List.copyOf(alternatives);
    }
  }

  record Repeat(Expression part, int least, int most) implements Expression {}

  /** What a rule stands for, which may contain the call. */
  record Call(Rule rule) implements Expression {}

  static Expression literal(String text) {
    return new Literal(text.getBytes(StandardCharsets.UTF_8));
  }

  static Expression sequence(Expression... parts) {
    return new Sequence(List.of(parts));
  }

  static Expression choice(Expression... alternatives) {
    return new Choice(List.of(alternatives));
  }

  static Expression optional(Expression part) {
    return new Repeat(part, 0, 1);
  }

  /** Copies of a part are calls of one rule, so that a high bound costs a state each. */
  static Expression repeat(Expression part, int least, int most) {
    boolean copied = most == ENDLESS ? least > 1 : most > 1;
    return new Repeat(copied ? named(part) : part, least, most);
  }

  /** The same texts behind a rule, to be used in several places at the cost of one. */
  static Expression named(Expression body) {
    if (body instanceof Call) {
      return body;
    }
    Rule rule = new Rule();
    rule.define(body);
    return new Call(rule);
  }

  /** Parts with something between each two. */
  static Expression joined(List<Expression> parts, Expression between) {
    List<Expression> all = new ArrayList<>();
    for (Expression part : parts) {
      if (!all.isEmpty()) {
        all.add(between);
      }
      all.add(part);
    }
    return new Sequence(all);
  }
}
