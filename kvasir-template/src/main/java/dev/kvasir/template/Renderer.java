package dev.kvasir.template;

import dev.kvasir.template.Expression.Constant;
import dev.kvasir.template.Expression.FilterCall;
import dev.kvasir.template.Expression.Inputs;
import dev.kvasir.template.Node.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Executes the statements of one rendering. Every iteration, macro and captured block has its own
 * scope, so its assignments end with it; {@code if} has none.
 */
final class Renderer {
  private enum Flow {
    NORMAL,
    BREAK,
    CONTINUE
  }

  private final RenderBudget budget;
  private final ExpressionEvaluator evaluator;
  private StringBuilder out = new StringBuilder();

  Renderer(RenderBudget budget) {
    this.budget = budget;
    this.evaluator = new ExpressionEvaluator(budget);
  }

  ExpressionEvaluator evaluator() {
    return evaluator;
  }

  /** Returns the text that {@code body} prints. */
  String capture(List<Node> body, Scope scope) {
    StringBuilder outer = out;
    out = new StringBuilder();
    run(body, scope);
    String text = out.toString();
    out = outer;
    return text;
  }

  private Flow run(List<Node> body, Scope scope) {
    budget.enter();
    for (Node node : body) {
      Flow flow = run(node, scope);
      if (flow != Flow.NORMAL) {
        budget.leave();
        return flow;
      }
    }
    budget.leave();
    return Flow.NORMAL;
  }

  private Flow run(Node node, Scope scope) {
    switch (node) {
      case Node.Text text -> print(text.text());
      case Node.Print print -> {
        evaluator.at(print.line());
        print(PythonText.str(evaluator.evaluate(print.value(), scope)));
      }
      case Node.If condition -> {
        return run(condition, scope);
      }
      case Node.For loop -> {
        return run(loop, scope);
      }
      case Node.Set set -> {
        evaluator.at(set.line());
        assign(set.target(), evaluator.evaluate(set.value(), scope), scope);
      }
      case Node.SetBlock set -> {
        String text = capture(set.body(), new Scope(scope));
        evaluator.at(set.line());
        assign(set.target(), filtered(set.filters(), text, scope), scope);
      }
      case Node.Macro macro ->
          scope.put(macro.signature().name(), new Macro(macro.signature(), scope, this));
      case Node.CallBlock call -> {
        evaluator.at(call.line());
        var caller = new Constant(new Macro(call.caller(), scope, this));
        var extra = new Inputs(List.of(), Map.of("caller", caller), null, null);
        print(PythonText.str(evaluator.call(call.call(), extra, scope)));
      }
      case Node.FilterBlock block -> {
        String text = capture(block.body(), new Scope(scope));
        print(PythonText.str(filtered(block.filters(), text, scope)));
      }
      case Node.With with -> {
        return run(with, scope);
      }
      case Node.Group group -> {
        return run(group.body(), new Scope(scope));
      }
      case Node.Break _ -> {
        return Flow.BREAK;
      }
      case Node.Continue _ -> {
        return Flow.CONTINUE;
      }
    }
    return Flow.NORMAL;
  }

  private Flow run(Node.If condition, Scope scope) {
    for (var branch : condition.branches()) {
      evaluator.at(branch.line());
      if (PythonValues.truth(evaluator.evaluate(branch.test(), scope))) {
        return run(branch.body(), scope);
      }
    }
    return run(condition.otherwise(), scope);
  }

  private Flow run(Node.For statement, Scope scope) {
    evaluator.at(statement.line());
    List<Object> elements =
        PythonValues.iterate(evaluator.evaluate(statement.iterable(), scope), budget);
    if (statement.filter() != null) {
      elements = filterElements(statement, elements, scope);
    }
    if (elements.isEmpty()) {
      return run(statement.otherwise(), new Scope(scope));
    }
    var loop = new Loop(elements);
    for (int i = 0; i < elements.size(); i++) {
      loop.advanceTo(i);
      var inner = new Scope(scope);
      inner.put("loop", loop);
      evaluator.at(statement.line());
      assign(statement.target(), elements.get(i), inner);
      if (run(statement.body(), inner) == Flow.BREAK) {
        break;
      }
    }
    return Flow.NORMAL;
  }

  private List<Object> filterElements(Node.For statement, List<Object> elements, Scope scope) {
    var filtered = new ArrayList<>();
    for (Object element : elements) {
      var inner = new Scope(scope);
      inner.put("loop", Undefined.name("loop"));
      assign(statement.target(), element, inner);
      if (PythonValues.truth(evaluator.evaluate(statement.filter(), inner))) {
        filtered.add(element);
      }
    }
    return filtered;
  }

  private Flow run(Node.With with, Scope scope) {
    evaluator.at(with.line());
    var inner = new Scope(scope);
    for (int i = 0; i < with.targets().size(); i++) {
      assign(with.targets().get(i), evaluator.evaluate(with.values().get(i), scope), inner);
    }
    return run(with.body(), inner);
  }

  private Object filtered(List<FilterCall> filters, String text, Scope scope) {
    Object value = text;
    for (FilterCall filter : filters) {
      value = evaluator.filter(filter, value, scope);
    }
    return value;
  }

  private void assign(Target target, Object value, Scope scope) {
    switch (target) {
      case Target.Variable variable -> scope.put(variable.name(), value);
      case Target.Field field -> {
        if (!(scope.find(field.namespace()) instanceof Namespace namespace)) {
          throw new EvaluationException("'%s' is no namespace to set".formatted(field.namespace()));
        }
        namespace.attributes().put(field.attribute(), value);
      }
      case Target.TupleTarget several -> {
        List<Object> values = PythonValues.iterate(value, budget);
        int wanted = several.targets().size();
        if (values.size() != wanted) {
          throw new EvaluationException("%d names for %d values".formatted(wanted, values.size()));
        }
        for (int i = 0; i < wanted; i++) {
          assign(several.targets().get(i), values.get(i), scope);
        }
      }
    }
  }

  private void print(String text) {
    budget.chargeText(text.length());
    if ((long) out.length() + text.length() > RenderBudget.MAX_TEXT) {
      throw new EvaluationException(
          "an output of more than " + RenderBudget.MAX_TEXT + " characters");
    }
    out.append(text);
  }
}
