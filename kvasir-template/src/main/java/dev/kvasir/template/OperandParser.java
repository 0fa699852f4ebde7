package dev.kvasir.template;

import dev.kvasir.template.Expression.Attribute;
import dev.kvasir.template.Expression.Call;
import dev.kvasir.template.Expression.Constant;
import dev.kvasir.template.Expression.DictOf;
import dev.kvasir.template.Expression.FilterCall;
import dev.kvasir.template.Expression.Filtered;
import dev.kvasir.template.Expression.Inputs;
import dev.kvasir.template.Expression.Item;
import dev.kvasir.template.Expression.ListOf;
import dev.kvasir.template.Expression.Name;
import dev.kvasir.template.Expression.Not;
import dev.kvasir.template.Expression.Slice;
import dev.kvasir.template.Expression.Tested;
import dev.kvasir.template.Expression.TupleOf;
import dev.kvasir.template.Token.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** Parses literals and names with their attributes, subscripts, calls, filters and tests. */
final class OperandParser {
  private static final Expression NONE = new Constant(null);

  private final TokenStream tokens;
  private final Supplier<Expression> expression;

  OperandParser(TokenStream tokens, Supplier<Expression> expression) {
    this.tokens = tokens;
    this.expression = expression;
  }

  Expression operand() {
    return postfix(primary());
  }

  private Expression primary() {
    Token token = tokens.current();
    return switch (token.kind()) {
      case NAME -> name((String) tokens.take().value());
      case NUMBER -> new Constant(tokens.take().value());
      case STRING -> {
        var text = new StringBuilder();
        while (tokens.at(Kind.STRING)) {
          text.append((String) tokens.take().value());
        }
        yield new Constant(text.toString());
      }
      case OPERATOR -> brackets();
      default -> throw tokens.unexpected("an expression");
    };
  }

  private static Expression name(String name) {
    return switch (name) {
      case "true", "True" -> new Constant(true);
      case "false", "False" -> new Constant(false);
      case "none", "None" -> NONE;
      default -> new Name(name);
    };
  }

  private Expression brackets() {
    if (tokens.takeOperator("(")) {
      return parenthesized();
    }
    if (tokens.takeOperator("[")) {
      return new ListOf(until("]"));
    }
    if (!tokens.takeOperator("{")) {
      throw tokens.unexpected("an expression");
    }
    var keys = new ArrayList<Expression>();
    var values = new ArrayList<Expression>();
    while (!tokens.takeOperator("}")) {
      if (!keys.isEmpty()) {
        tokens.expectOperator(",");
        if (tokens.takeOperator("}")) {
          break;
        }
      }
      keys.add(expression.get());
      tokens.expectOperator(":");
      values.add(expression.get());
    }
    return new DictOf(keys, values);
  }

  private Expression parenthesized() {
    if (tokens.takeOperator(")")) {
      return new TupleOf(List.of());
    }
    Expression first = expression.get();
    if (tokens.takeOperator(")")) {
      return first;
    }
    tokens.expectOperator(",");
    var elements = new ArrayList<>(List.of(first));
    elements.addAll(until(")"));
    return new TupleOf(elements);
  }

  private List<Expression> until(String close) {
    var elements = new ArrayList<Expression>();
    while (!tokens.takeOperator(close)) {
      if (!elements.isEmpty()) {
        tokens.expectOperator(",");
        if (tokens.takeOperator(close)) {
          break;
        }
      }
      elements.add(expression.get());
    }
    return elements;
  }

  Expression postfix(Expression start) {
    Expression target = start;
    while (true) {
      int line = tokens.line();
      if (tokens.takeOperator(".")) {
        target =
            tokens.at(Kind.NUMBER)
                ? new Item(target, new Constant(tokens.take().value()), line)
                : new Attribute(target, tokens.expectName(), line);
      } else if (tokens.takeOperator("[")) {
        target = subscript(target, line);
      } else if (tokens.atOperator("(")) {
        target = new Call(target, inputs(), line);
      } else {
        return target;
      }
    }
  }

  private Expression subscript(Expression target, int line) {
    Expression start = tokens.atOperator(":") ? NONE : expression.get();
    if (tokens.takeOperator("]")) {
      return new Item(target, start, line);
    }
    if (tokens.takeOperator(",")) {
      var key = new ArrayList<>(List.of(start));
      key.addAll(until("]"));
      return new Item(target, new TupleOf(key), line);
    }
    tokens.expectOperator(":");
    Expression stop = tokens.atOperator(":") || tokens.atOperator("]") ? NONE : expression.get();
    Expression step = NONE;
    if (tokens.takeOperator(":") && !tokens.atOperator("]")) {
      step = expression.get();
    }
    tokens.expectOperator("]");
    return new Slice(target, start, stop, step, line);
  }

  private Inputs inputs() {
    tokens.expectOperator("(");
    var positional = new ArrayList<Expression>();
    var named = new LinkedHashMap<String, Expression>();
    Expression spread = null;
    Expression spreadNamed = null;
    boolean first = true;
    while (!tokens.takeOperator(")")) {
      if (!first) {
        tokens.expectOperator(",");
        if (tokens.takeOperator(")")) {
          break;
        }
      }
      first = false;
      if (tokens.takeOperator("**")) {
        spreadNamed = expression.get();
      } else if (tokens.takeOperator("*")) {
        spread = expression.get();
      } else if (tokens.at(Kind.NAME) && tokens.ahead().is(Kind.OPERATOR, "=")) {
        String name = tokens.expectName();
        tokens.take();
        named.put(name, expression.get());
      } else if (named.isEmpty() && spreadNamed == null) {
        positional.add(expression.get());
      } else {
        throw tokens.unexpected("a named argument");
      }
    }
    return new Inputs(positional, named, spread, spreadNamed);
  }

  Expression withFilters(Expression start) {
    Expression value = start;
    while (true) {
      int line = tokens.line();
      if (tokens.takeOperator("|")) {
        value = new Filtered(value, filter());
      } else if (tokens.takeName("is")) {
        value = test(value, line);
      } else if (tokens.atOperator("(")) {
        value = new Call(value, inputs(), line);
      } else {
        return value;
      }
    }
  }

  /** Parses a filter's name and arguments, after the bar. */
  FilterCall filter() {
    int line = tokens.line();
    String name = tokens.expectName();
    if (!Filters.known(name)) {
      tokens.postpone(tokens.error(line, Filters.unknown(name)));
    }
    return new FilterCall(name, tokens.atOperator("(") ? inputs() : Inputs.NONE, line);
  }

  private Expression test(Expression value, int line) {
    boolean negated = tokens.takeName("not");
    String name = tokens.expectName();
    if (!Tests.known(name)) {
      tokens.postpone(tokens.error(line, Tests.unknown(name)));
    }
    Inputs inputs = Inputs.NONE;
    if (tokens.atOperator("(")) {
      inputs = inputs();
    } else if (startsArgument()) {
      inputs = Inputs.of(operand());
    }
    var tested = new Tested(value, name, inputs, line);
    return negated ? new Not(tested) : tested;
  }

  /** Returns whether an argument without parentheses follows, as in {@code x is divisibleby 3}. */
  private boolean startsArgument() {
    Token token = tokens.current();
    return switch (token.kind()) {
      case STRING, NUMBER -> true;
      case OPERATOR -> token.value().equals("[") || token.value().equals("{");
      case NAME -> !Set.of("else", "or", "and", "is", "if", "not", "in").contains(token.value());
      default -> false;
    };
  }
}
