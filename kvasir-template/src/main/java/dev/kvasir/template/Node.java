package dev.kvasir.template;

import dev.kvasir.template.Expression.FilterCall;
import java.util.List;

/** One statement of a template. */
sealed interface Node {
  record Text(String text) implements Node {}

  record Print(Expression value, int line) implements Node {}

  /** {@code otherwise} is empty where there is no else branch. */
  record If(List<Branch> branches, List<Node> otherwise) implements Node {}

  record Branch(Expression test, List<Node> body, int line) {}

  /** A filter that is not written is null. */
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

  /** {@code call}: the signature is that of the {@code caller} the macro sees. */
  record CallBlock(Expression.Call call, Signature caller, int line) implements Node {}

  record FilterBlock(List<FilterCall> filters, List<Node> body, int line) implements Node {}

  record With(List<Target> targets, List<Expression> values, List<Node> body, int line)
      implements Node {}

  /** {@code generation}, which marks a body for training and renders it as it is. */
  record Group(List<Node> body) implements Node {}

  record Break() implements Node {}

  record Continue() implements Node {}

  /**
   * A macro: a parameter without a default has a null one. Arguments beyond the parameters are
   * taken only by a body that mentions {@code varargs} or {@code kwargs}.
   */
  record Signature(
      String name,
      List<String> parameters,
      List<Expression> defaults,
      List<Node> body,
      boolean varargs,
      boolean kwargs) {}

  /** What an assignment writes to. */
  sealed interface Target {
    record Variable(String name) implements Target {}

    record Field(String namespace, String attribute) implements Target {}

    record TupleTarget(List<Target> targets) implements Target {}
  }
}
