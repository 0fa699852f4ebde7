package dev.kvasir.grammar;

/** A place for an expression, which may be called before it is defined. */
final class Rule {
  private Expression body;

  void define(Expression expression) {
    body = expression;
  }

  Expression body() {
    if (body == null) {
      throw new IllegalStateException("a rule was called and never defined");
    }
    return body;
  }
}
