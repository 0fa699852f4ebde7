package dev.kvasir.template;

import dev.kvasir.template.Expression.FilterCall;
import dev.kvasir.template.Expression.Inputs;
import dev.kvasir.template.Operators.Arithmetic;
import dev.kvasir.template.Operators.Relation;
import dev.kvasir.template.TokenStream.Kind;
import dev.kvasir.template.TokenStream.Token;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Parses expressions. The precedence of operators is Jinja's, not Python's: {@code ~} binds tighter
 * than {@code +}, and {@code **} is left-associative.
 */
final class ExpressionParser {
  private static final Expression NONE = new Expression.Constant(null);

  private final TokenStream tokens;

  ExpressionParser(TokenStream tokens) {
    this.tokens = tokens;
  }

  Expression expression() {
    tokens.enter();
    Expression expression = conditional();
    tokens.leave();
    return expression;
  }

  /** Parses an expression, or several separated by commas, which form a tuple. */
  Expression tuple() {
    return commas(true);
  }

  /** Parses a tuple whose following {@code if} belongs to the statement. */
  Expression tupleWithoutCondition() {
    return commas(false);
  }

  private Expression commas(boolean conditional) {
    Expression first = conditional ? expression() : or();
    if (!tokens.atOperator(",")) {
      return first;
    }
    var elements = new ArrayList<>(List.of(first));
    while (tokens.takeOperator(",")) {
      if (tokens.at(Kind.PRINT_END) || tokens.at(Kind.BLOCK_END)) {
        break;
      }
      elements.add(conditional ? expression() : or());
    }
    return new Expression.TupleOf(elements);
  }

  private Expression conditional() {
    TemplateException before = tokens.postponed();
    Expression value = or();
    while (tokens.takeName("if")) {
      tokens.enterCondition();
      Expression test = or();
      Expression otherwise = tokens.takeName("else") ? expression() : null;
      value = new Expression.Conditional(test, value, otherwise);
      tokens.leaveCondition();
      tokens.postponeOnly(before);
    }
    return value;
  }

  private Expression or() {
    Expression left = and();
    while (tokens.takeName("or")) {
      left = new Expression.Or(left, and());
    }
    return left;
  }

  private Expression and() {
    Expression left = not();
    while (tokens.takeName("and")) {
      left = new Expression.And(left, not());
    }
    return left;
  }

  private Expression not() {
    if (!tokens.takeName("not")) {
      return comparison();
    }
    tokens.enter();
    Expression operand = not();
    tokens.leave();
    return new Expression.Not(operand);
  }

  private Expression comparison() {
    int line = tokens.line();
    Expression first = sum();
    var links = new ArrayList<Expression.Link>();
    for (Relation relation = relation(); relation != null; relation = relation()) {
      links.add(new Expression.Link(relation, sum()));
    }
    return links.isEmpty() ? first : new Expression.Chain(first, links, line);
  }

  /** Takes a comparison operator, or returns null if there is none. */
  private Relation relation() {
    if (tokens.atName("not") && tokens.ahead().is(Kind.NAME, "in")) {
      tokens.take();
      tokens.take();
      return Relation.NOT_IN;
    }
    if (tokens.takeName("in")) {
      return Relation.IN;
    }
    Relation relation = tokens.at(Kind.OPERATOR) ? Relation.of(tokens.current().value()) : null;
    if (relation != null) {
      tokens.take();
    }
    return relation;
  }

  private Expression sum() {
    return binary(this::concatenation, "+", "-");
  }

  private Expression concatenation() {
    Expression first = product();
    if (!tokens.atOperator("~")) {
      return first;
    }
    var parts = new ArrayList<>(List.of(first));
    while (tokens.takeOperator("~")) {
      parts.add(product());
    }
    return new Expression.Concatenation(parts);
  }

  private Expression product() {
    return binary(this::power, "*", "/", "//", "%");
  }

  private Expression power() {
    return binary(() -> withFilters(sign()), "**");
  }

  private Expression binary(Supplier<Expression> operand, String... operators) {
    Expression left = operand.get();
    for (Token found = take(operators); found != null; found = take(operators)) {
      left = binary(found, left, operand.get());
    }
    return left;
  }

  /** Takes one of the operators, or returns null if there is none of them. */
  private Token take(String... operators) {
    boolean found = tokens.at(Kind.OPERATOR);
    return found && List.of(operators).contains(tokens.current().value()) ? tokens.take() : null;
  }

  private static Expression binary(Token operator, Expression left, Expression right) {
    return new Expression.Binary(Arithmetic.of(operator.value()), left, right, operator.line());
  }

  /** A filter applies to the signed operand: {@code -5|abs} is 5. */
  private Expression sign() {
    Token sign = take("-", "+");
    if (sign == null) {
      return operand();
    }
    tokens.enter();
    Expression operand = sign();
    tokens.leave();
    return postfix(
        sign.value().equals("-")
            ? new Expression.Negative(operand, sign.line())
            : binary(sign, new Expression.Constant(0L), operand));
  }

  private Expression operand() {
    return postfix(primary());
  }

  private Expression primary() {
    return switch (tokens.current().kind()) {
      case NAME -> name((String) tokens.take().value());
      case NUMBER -> new Expression.Constant(tokens.take().value());
      case STRING -> {
        var text = new StringBuilder();
        while (tokens.at(Kind.STRING)) {
          text.append((String) tokens.take().value());
        }
        yield new Expression.Constant(text.toString());
      }
      case OPERATOR -> brackets();
      default -> throw tokens.unexpected("an expression");
    };
  }

  private static Expression name(String name) {
    return switch (name) {
      case "true", "True" -> new Expression.Constant(true);
      case "false", "False" -> new Expression.Constant(false);
      case "none", "None" -> NONE;
      default -> new Expression.Name(name);
    };
  }

  private Expression brackets() {
    if (tokens.takeOperator("(")) {
      return parenthesized();
    }
    if (tokens.takeOperator("[")) {
      return new Expression.ListOf(until("]"));
    }
    if (!tokens.takeOperator("{")) {
      throw tokens.unexpected("an expression");
    }
    var keys = new ArrayList<Expression>();
    var values = new ArrayList<Expression>();
    while (anotherBefore("}", keys.isEmpty())) {
      keys.add(expression());
      tokens.expectOperator(":");
      values.add(expression());
    }
    return new Expression.DictOf(keys, values);
  }

  private Expression parenthesized() {
    if (tokens.takeOperator(")")) {
      return new Expression.TupleOf(List.of());
    }
    Expression first = expression();
    if (tokens.takeOperator(")")) {
      return first;
    }
    tokens.expectOperator(",");
    return tupleUntil(")", first);
  }

  private Expression tupleUntil(String close, Expression first) {
    var elements = new ArrayList<>(List.of(first));
    elements.addAll(until(close));
    return new Expression.TupleOf(elements);
  }

  private List<Expression> until(String close) {
    var elements = new ArrayList<Expression>();
    while (anotherBefore(close, elements.isEmpty())) {
      elements.add(expression());
    }
    return elements;
  }

  /** Takes the comma before an element or the end of a list, which may follow a last comma. */
  private boolean anotherBefore(String close, boolean first) {
    if (tokens.takeOperator(close)) {
      return false;
    }
    if (!first) {
      tokens.expectOperator(",");
    }
    return first || !tokens.takeOperator(close);
  }

  private Expression postfix(Expression start) {
    Expression target = start;
    while (true) {
      int line = tokens.line();
      if (tokens.takeOperator(".")) {
        target =
            tokens.at(Kind.NUMBER)
                ? new Expression.Item(target, new Expression.Constant(tokens.take().value()), line)
                : new Expression.Attribute(target, tokens.expectName(), line);
      } else if (tokens.takeOperator("[")) {
        target = subscript(target, line);
      } else if (tokens.atOperator("(")) {
        target = new Expression.Call(target, inputs(), line);
      } else {
        return target;
      }
    }
  }

  private Expression subscript(Expression target, int line) {
    Expression start = tokens.atOperator(":") ? NONE : expression();
    if (tokens.takeOperator("]")) {
      return new Expression.Item(target, start, line);
    }
    if (tokens.takeOperator(",")) {
      return new Expression.Item(target, tupleUntil("]", start), line);
    }
    tokens.expectOperator(":");
    Expression stop = tokens.atOperator(":") || tokens.atOperator("]") ? NONE : expression();
    Expression step = NONE;
    if (tokens.takeOperator(":") && !tokens.atOperator("]")) {
      step = expression();
    }
    tokens.expectOperator("]");
    return new Expression.Slice(target, start, stop, step, line);
  }

  private Inputs inputs() {
    tokens.expectOperator("(");
    var positional = new ArrayList<Expression>();
    var named = new LinkedHashMap<String, Expression>();
    Expression spread = null;
    Expression spreadNamed = null;
    boolean first = true;
    while (anotherBefore(")", first)) {
      first = false;
      if (tokens.takeOperator("**")) {
        spreadNamed = expression();
      } else if (tokens.takeOperator("*")) {
        spread = expression();
      } else if (tokens.at(Kind.NAME) && tokens.ahead().is(Kind.OPERATOR, "=")) {
        String name = tokens.expectName();
        tokens.take();
        named.put(name, expression());
      } else if (named.isEmpty() && spreadNamed == null) {
        positional.add(expression());
      } else {
        throw tokens.unexpected("a named argument");
      }
    }
    return new Inputs(positional, named, spread, spreadNamed);
  }

  private Expression withFilters(Expression start) {
    Expression value = start;
    while (true) {
      int line = tokens.line();
      if (tokens.takeOperator("|")) {
        value = new Expression.Filtered(value, filter());
      } else if (tokens.takeName("is")) {
        value = test(value, line);
      } else if (tokens.atOperator("(")) {
        value = new Expression.Call(value, inputs(), line);
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
    var tested = new Expression.Tested(value, name, inputs, line);
    return negated ? new Expression.Not(tested) : tested;
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
