package dev.kvasir.template;

import dev.kvasir.template.Expression.And;
import dev.kvasir.template.Expression.Binary;
import dev.kvasir.template.Expression.Chain;
import dev.kvasir.template.Expression.Concatenation;
import dev.kvasir.template.Expression.Conditional;
import dev.kvasir.template.Expression.Link;
import dev.kvasir.template.Expression.Negative;
import dev.kvasir.template.Expression.Not;
import dev.kvasir.template.Expression.Or;
import dev.kvasir.template.Expression.Relation;
import dev.kvasir.template.Expression.TupleOf;
import dev.kvasir.template.Token.Kind;
import java.util.ArrayList;
import java.util.List;

/**
 * Parses operators in the order of their precedence. It is Jinja's, not Python's: {@code ~} binds
 * tighter than {@code +}, and {@code **} is left-associative.
 */
final class ExpressionParser {
  private final TokenStream tokens;
  private final OperandParser operands;

  ExpressionParser(TokenStream tokens) {
    this.tokens = tokens;
    this.operands = new OperandParser(tokens, this::expression);
  }

  OperandParser operands() {
    return operands;
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
    return new TupleOf(elements);
  }

  private Expression conditional() {
    TemplateException before = tokens.postponed();
    Expression value = or();
    while (tokens.takeName("if")) {
      tokens.enterCondition();
      Expression test = or();
      Expression otherwise = tokens.takeName("else") ? expression() : null;
      value = new Conditional(test, value, otherwise);
      tokens.leaveCondition();
      tokens.postponeOnly(before);
    }
    return value;
  }

  private Expression or() {
    Expression left = and();
    while (tokens.takeName("or")) {
      left = new Or(left, and());
    }
    return left;
  }

  private Expression and() {
    Expression left = not();
    while (tokens.takeName("and")) {
      left = new And(left, not());
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
    return new Not(operand);
  }

  private Expression comparison() {
    int line = tokens.line();
    Expression first = sum();
    var links = new ArrayList<Link>();
    for (Relation relation = relation(); relation != null; relation = relation()) {
      links.add(new Link(relation, sum()));
    }
    return links.isEmpty() ? first : new Chain(first, links, line);
  }

  private Relation relation() {
    Token token = tokens.current();
    boolean notIn = tokens.atName("not") && tokens.ahead().is(Kind.NAME, "in");
    Relation relation =
        switch (token.kind()) {
          case NAME -> tokens.atName("in") ? Relation.IN : notIn ? Relation.NOT_IN : null;
          case OPERATOR ->
              switch ((String) token.value()) {
                case "==" -> Relation.EQUAL;
                case "!=" -> Relation.UNEQUAL;
                case "<" -> Relation.LESS;
                case "<=" -> Relation.LESS_EQUAL;
                case ">" -> Relation.GREATER;
                case ">=" -> Relation.GREATER_EQUAL;
                default -> null;
              };
          default -> null;
        };
    if (relation != null) {
      tokens.take();
    }
    if (relation == Relation.NOT_IN) {
      tokens.take();
    }
    return relation;
  }

  private Expression sum() {
    Expression left = concatenation();
    while (tokens.atOperator("+") || tokens.atOperator("-")) {
      Token operator = tokens.take();
      var kind =
          operator.value().equals("+") ? ArithmeticOperator.ADD : ArithmeticOperator.SUBTRACT;
      left = new Binary(kind, left, concatenation(), operator.line());
    }
    return left;
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
    return new Concatenation(parts);
  }

  private Expression product() {
    Expression left = power();
    while (true) {
      int line = tokens.line();
      ArithmeticOperator operator =
          tokens.takeOperator("*")
              ? ArithmeticOperator.MULTIPLY
              : tokens.takeOperator("/")
                  ? ArithmeticOperator.DIVIDE
                  : tokens.takeOperator("//")
                      ? ArithmeticOperator.FLOOR_DIVIDE
                      : tokens.takeOperator("%") ? ArithmeticOperator.REMAINDER : null;
      if (operator == null) {
        return left;
      }
      left = new Binary(operator, left, power(), line);
    }
  }

  private Expression power() {
    Expression left = operands.withFilters(sign());
    while (tokens.atOperator("**")) {
      int line = tokens.take().line();
      left = new Binary(ArithmeticOperator.POWER, left, operands.withFilters(sign()), line);
    }
    return left;
  }

  /** A filter applies to the signed operand: {@code -5|abs} is 5. */
  private Expression sign() {
    int line = tokens.line();
    if (!tokens.atOperator("-") && !tokens.atOperator("+")) {
      return operands.operand();
    }
    boolean negative = tokens.take().value().equals("-");
    tokens.enter();
    Expression operand = sign();
    tokens.leave();
    Expression zero = new Expression.Constant(0L);
    return operands.postfix(
        negative
            ? new Negative(operand, line)
            : new Binary(ArithmeticOperator.ADD, zero, operand, line));
  }
}
