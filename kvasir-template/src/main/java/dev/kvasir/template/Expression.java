package dev.kvasir.template;

import dev.kvasir.template.Operators.Arithmetic;
import dev.kvasir.template.Operators.Relation;
import java.util.List;
import java.util.Map;

/** An expression, as in {@code {{ value }}}. */
sealed interface Expression {
  record Constant(Object value) implements Expression {}

  record Name(String name) implements Expression {}

  record ListOf(List<Expression> elements) implements Expression {}

  record TupleOf(List<Expression> elements) implements Expression {}

  record DictOf(List<Expression> keys, List<Expression> values) implements Expression {}

  record Attribute(Expression target, String name, int line) implements Expression {}

  record Item(Expression target, Expression key, int line) implements Expression {}

  /** An omitted bound is the constant none. */
  record Slice(Expression target, Expression start, Expression stop, Expression step, int line)
      implements Expression {}

  record Call(Expression function, Inputs inputs, int line) implements Expression {}

  record Filtered(Expression value, FilterCall filter) implements Expression {}

  record Tested(Expression value, String test, Inputs inputs, int line) implements Expression {}

  record Binary(Arithmetic operator, Expression left, Expression right, int line)
      implements Expression {}

  record Negative(Expression operand, int line) implements Expression {}

  record Concatenation(List<Expression> parts) implements Expression {}

  /** {@code first < a <= b ...}: every link must hold. */
  record Chain(Expression first, List<Link> links, int line) implements Expression {}

  /** One comparison of a chain. */
  record Link(Relation relation, Expression right) {}

  record And(Expression left, Expression right) implements Expression {}

  record Or(Expression left, Expression right) implements Expression {}

  record Not(Expression operand) implements Expression {}

  /** Without an else branch {@code otherwise} is null and the value is undefined. */
  record Conditional(Expression test, Expression then, Expression otherwise)
      implements Expression {}

  /** Argument expressions; the spread ones ({@code *a}, {@code **b}) are null if absent. */
  record Inputs(
      List<Expression> positional,
      Map<String, Expression> named,
      Expression spread,
      Expression spreadNamed) {
    static final Inputs NONE = new Inputs(List.of(), Map.of(), null, null);

    static Inputs of(Expression only) {
      return new Inputs(List.of(only), Map.of(), null, null);
    }
  }

  record FilterCall(String name, Inputs inputs, int line) {}
}
