package dev.kvasir.template;

import dev.kvasir.template.Expression.FilterCall;
import java.util.List;

/** A statement of a template. */
sealed interface Statement {
  record Text(String text) implements Statement {}

  record Print(Expression value, int line) implements Statement {}

  /** {@code otherwise} is empty without an else branch. */
  record If(List<Branch> branches, List<Statement> otherwise) implements Statement {}

  record Branch(Expression test, List<Statement> body, int line) {}

  /** An absent filter is null. */
  record For(
      Target target,
      Expression iterable,
      Expression filter,
      List<Statement> body,
      List<Statement> otherwise,
      int line)
      implements Statement {}

  record Set(Target target, Expression value, int line) implements Statement {}

  record SetBlock(Target target, List<FilterCall> filters, List<Statement> body, int line)
      implements Statement {}

  record MacroDefinition(Signature signature) implements Statement {}

  /** {@code call}: the signature is that of the macro's {@code caller}. */
  record CallBlock(Expression.Call call, Signature caller, int line) implements Statement {}

  record FilterBlock(List<FilterCall> filters, List<Statement> body) implements Statement {}

  record With(List<Set> assignments, List<Statement> body) implements Statement {}

  /** {@code generation}, which marks a body for training and renders it unchanged. */
  record Group(List<Statement> body) implements Statement {}

  record Break() implements Statement {}

  record Continue() implements Statement {}

  /**
   * The signature of a macro. Surplus arguments are only allowed if the body mentions {@code
   * varargs} or {@code kwargs}.
   */
  record Signature(
      String name,
      List<Parameter> parameters,
      List<Statement> body,
      boolean varargs,
      boolean kwargs) {}

  /** A parameter of a macro; an absent default is null. */
  record Parameter(String name, Expression fallback) {}

  /** The target of an assignment. */
  sealed interface Target {
    record Variable(String name) implements Target {}

    record Field(String namespace, String attribute) implements Target {}

    record TupleTarget(List<Target> targets) implements Target {}
  }
}
