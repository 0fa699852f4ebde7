package dev.kvasir.grammar;

/** A named expression, which may be referenced before it is defined. */
final class Rule {
  private GrammarExpression body;

  void define(GrammarExpression expression) {
    body = expression;
  }

  GrammarExpression body() {
    if (body == null) {
      throw new IllegalStateException("a rule was called and never defined");
    }
    return body;
  }
}
