package dev.kvasir.template;

import dev.kvasir.template.Expression.FilterCall;
import dev.kvasir.template.Expression.Inputs;
import dev.kvasir.template.Operators.Arithmetic;
import dev.kvasir.template.PythonValues.Callable;
import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Markup;
import dev.kvasir.template.PythonValues.Sequence;
import dev.kvasir.template.PythonValues.Undefined;
import dev.kvasir.template.Renderer.Macro;
import dev.kvasir.template.Renderer.Scope;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;

/** Evaluates expressions. */
final class ExpressionEvaluator {
  private final RenderBudget budget;
  private int line = 1;

  ExpressionEvaluator(RenderBudget budget) {
    this.budget = budget;
  }

  /** Returns the line of the operation that is running or has failed. */
  int line() {
    return line;
  }

  ExpressionEvaluator at(int line) {
    this.line = line;
    return this;
  }

  Object evaluate(Expression expression, Scope scope) {
    budget.enter();
    Object value =
        switch (expression) {
          case Expression.Constant constant -> constant.value();
          case Expression.Name name -> scope.find(name.name());
          case Expression.ListOf list -> Sequence.list(all(list.elements(), scope));
          case Expression.TupleOf tuple ->
              new Sequence(Sequence.Kind.TUPLE, all(tuple.elements(), scope));
          case Expression.DictOf dict -> dict(dict, scope);
          case Expression.Attribute attribute -> {
            Object target = evaluate(attribute.target(), scope);
            line = attribute.line();
            yield Subscript.attribute(target, attribute.name());
          }
          case Expression.Item item -> {
            Object target = evaluate(item.target(), scope);
            Object key = evaluate(item.key(), scope);
            line = item.line();
            yield Subscript.item(target, key);
          }
          case Expression.Slice slice -> slice(slice, scope);
          case Expression.Call call -> call(call, null, scope);
          case Expression.Filtered filtered ->
              filter(filtered.filter(), evaluate(filtered.value(), scope), scope);
          case Expression.Tested tested -> {
            Object tests = Markup.plain(evaluate(tested.value(), scope));
            Arguments arguments = arguments(tested.inputs(), scope);
            line = tested.line();
            yield Tests.apply(tested.test(), tests, arguments);
          }
          case Expression.Binary binary -> {
            Object left = evaluate(binary.left(), scope);
            Object right = evaluate(binary.right(), scope);
            line = binary.line();
            yield binary.operator().apply(left, right, budget);
          }
          case Expression.Negative negative -> {
            Object operand = evaluate(negative.operand(), scope);
            line = negative.line();
            yield Arithmetic.negate(operand, budget);
          }
          case Expression.Concatenation concatenation -> {
            var text = new StringBuilder();
            for (Expression part : concatenation.parts()) {
              text.append(PythonText.str(evaluate(part, scope)));
              budget.chargeText(text.length());
            }
            yield text.toString();
          }
          case Expression.Chain chain -> chain(chain, scope);
          case Expression.And and -> {
            Object left = evaluate(and.left(), scope);
            yield PythonValues.truth(left) ? evaluate(and.right(), scope) : left;
          }
          case Expression.Or or -> {
            Object left = evaluate(or.left(), scope);
            yield PythonValues.truth(left) ? left : evaluate(or.right(), scope);
          }
          case Expression.Not not -> !PythonValues.truth(evaluate(not.operand(), scope));
          case Expression.Conditional conditional -> {
            if (PythonValues.truth(evaluate(conditional.test(), scope))) {
              yield evaluate(conditional.then(), scope);
            }
            yield conditional.otherwise() == null
                ? new Undefined("the condition is false and there is no else")
                : evaluate(conditional.otherwise(), scope);
          }
        };
    budget.leave();
    return value;
  }

  private List<Object> all(List<Expression> expressions, Scope scope) {
    var values = new ArrayList<>(expressions.size());
    for (Expression expression : expressions) {
      values.add(Markup.plain(evaluate(expression, scope)));
    }
    return values;
  }

  private Dict dict(Expression.DictOf literal, Scope scope) {
    var dict = new Dict();
    for (int i = 0; i < literal.keys().size(); i++) {
      dict.put(
          Markup.plain(evaluate(literal.keys().get(i), scope)),
          evaluate(literal.values().get(i), scope));
    }
    return dict;
  }

  private Object slice(Expression.Slice slice, Scope scope) {
    Object target = evaluate(slice.target(), scope);
    Object start = evaluate(slice.start(), scope);
    Object stop = evaluate(slice.stop(), scope);
    Object step = evaluate(slice.step(), scope);
    line = slice.line();
    return Subscript.slice(target, start, stop, step, budget);
  }

  private boolean chain(Expression.Chain chain, Scope scope) {
    Object left = evaluate(chain.first(), scope);
    for (var link : chain.links()) {
      Object right = evaluate(link.right(), scope);
      line = chain.line();
      if (!link.relation().holds(left, right)) {
        return false;
      }
      left = right;
    }
    return true;
  }

  /** Evaluates a call. A call block adds a caller; it is null without one. */
  Object call(Expression.Call call, Macro caller, Scope scope) {
    Object function = evaluate(call.function(), scope);
    Arguments arguments = arguments(call.inputs(), scope);
    if (caller != null) {
      arguments.named().put("caller", caller);
    }
    line = call.line();
    return switch (function) {
      case Callable callable -> callable.call(arguments);
      case Undefined undefined -> throw undefined.misused();
      case null, default -> throw EvaluationException.ofType(function, "cannot be called");
    };
  }

  Object filter(FilterCall filter, Object value, Scope scope) {
    Arguments arguments = arguments(filter.inputs(), scope);
    line = filter.line();
    return Filters.apply(filter.name(), Markup.plain(value), arguments);
  }

  private Arguments arguments(Inputs inputs, Scope scope) {
    var positional = new ArrayList<>();
    for (Expression input : inputs.positional()) {
      positional.add(evaluate(input, scope));
    }
    var named = new LinkedHashMap<String, Object>();
    inputs.named().forEach((name, input) -> named.put(name, evaluate(input, scope)));
    if (inputs.spread() != null) {
      positional.addAll(PythonValues.iterate(evaluate(inputs.spread(), scope), budget));
    }
    if (inputs.spreadNamed() != null) {
      if (!(evaluate(inputs.spreadNamed(), scope) instanceof Dict dict)) {
        throw new EvaluationException("'**' needs a dict");
      }
      dict.entries().forEach(entry -> named.put(PythonText.str(entry.key()), entry.value()));
    }
    return new Arguments(positional, named, budget);
  }
}
