package dev.kvasir.template;

import dev.kvasir.template.Expression.FilterCall;
import java.util.List;

/** A statement of a template. */
sealed interface Node {
  record Text(String text) implements Node {}

  record Print(Expression value, int line) implements Node {}

  /** {@code otherwise} is empty without an else branch. */
  record If(List<Branch> branches, List<Node> otherwise) implements Node {}

  record Branch(Expression test, List<Node> body, int line) {}

  /** An absent filter is null. */
  record For(
      Target target,
      Expression iterable,
      Expression filter,
      List<Node> body,
      List<Node> otherwise,
      int line)
      implements Node {}

  record Set(Target target, Expression value, int line) implements Node {}

  record SetBlock(Target target, List<FilterCall> filters, List<Node> body, int line)
      implements Node {}

  record Macro(Signature signature, int line) implements Node {}

  /** {@code call}: the signature is that of the macro's {@code caller}. */
  record CallBlock(Expression.Call call, Signature caller, int line) implements Node {}

  record FilterBlock(List<FilterCall> filters, List<Node> body, int line) implements Node {}

  record With(List<Target> targets, List<Expression> values, List<Node> body, int line)
      implements Node {}

  /** {@code generation}, which marks a body for training and renders it unchanged. */
  record Group(List<Node> body) implements Node {}

  record Break() implements Node {}

  record Continue() implements Node {}

  /**
   * The signature of a macro. A parameter without a default has a null one. Surplus arguments are
   * only allowed if the body mentions {@code varargs} or {@code kwargs}.
   */
  record Signature(
      String name,
      List<String> parameters,
      List<Expression> defaults,
      List<Node> body,
      boolean varargs,
      boolean kwargs) {}

  /** The target of an assignment. */
  sealed interface Target {
    record Variable(String name) implements Target {}

    record Field(String namespace, String attribute) implements Target {}

    record TupleTarget(List<Target> targets) implements Target {}
  }
}
