package dev.kvasir.template;

import dev.kvasir.template.Expression.FilterCall;
import dev.kvasir.template.PythonValues.Callable;
import dev.kvasir.template.PythonValues.Dict;
import dev.kvasir.template.PythonValues.Namespace;
import dev.kvasir.template.PythonValues.Sequence;
import dev.kvasir.template.PythonValues.Undefined;
import dev.kvasir.template.Statement.Signature;
import dev.kvasir.template.Statement.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
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

  /** Returns the line of the operation that is running or has failed. */
  int line() {
    return evaluator.line();
  }

  /** Returns the text that {@code body} prints. */
  String capture(List<Statement> body, Scope scope) {
    StringBuilder outer = out;
    out = new StringBuilder();
    run(body, scope);
    String text = out.toString();
    out = outer;
    return text;
  }

  private Flow run(List<Statement> body, Scope scope) {
    budget.enter();
    Flow flow = Flow.NORMAL;
    for (int i = 0; i < body.size() && flow == Flow.NORMAL; i++) {
      flow = run(body.get(i), scope);
    }
    budget.leave();
    return flow;
  }

  private Flow run(Statement statement, Scope scope) {
    return switch (statement) {
      case Statement.Text text -> print(text.text());
      case Statement.Print print ->
          print(PythonText.str(evaluator.at(print.line()).evaluate(print.value(), scope)));
      case Statement.If condition -> run(condition, scope);
      case Statement.For loop -> run(loop, scope);
      case Statement.Set set -> {
        Object value = evaluator.at(set.line()).evaluate(set.value(), scope);
        yield assign(set.target(), value, scope);
      }
      case Statement.SetBlock set -> {
        String text = capture(set.body(), new Scope(scope));
        evaluator.at(set.line());
        yield assign(set.target(), filtered(set.filters(), text, scope), scope);
      }
      case Statement.MacroDefinition macro -> {
        scope.put(macro.signature().name(), new Macro(macro.signature(), scope, this));
        yield Flow.NORMAL;
      }
      case Statement.CallBlock call -> {
        var caller = new Macro(call.caller(), scope, this);
        yield print(PythonText.str(evaluator.at(call.line()).call(call.call(), caller, scope)));
      }
      case Statement.FilterBlock block -> {
        String text = capture(block.body(), new Scope(scope));
        yield print(PythonText.str(filtered(block.filters(), text, scope)));
      }
      case Statement.With with -> run(with, scope);
      case Statement.Group group -> run(group.body(), new Scope(scope));
      case Statement.Break _ -> Flow.BREAK;
      case Statement.Continue _ -> Flow.CONTINUE;
    };
  }

  private Flow run(Statement.If condition, Scope scope) {
    for (var branch : condition.branches()) {
      if (PythonValues.truth(evaluator.at(branch.line()).evaluate(branch.test(), scope))) {
        return run(branch.body(), scope);
      }
    }
    return run(condition.otherwise(), scope);
  }

  private Flow run(Statement.For statement, Scope scope) {
    Object iterable = evaluator.at(statement.line()).evaluate(statement.iterable(), scope);
    List<Object> elements = PythonValues.iterate(iterable, budget);
    if (statement.filter() != null) {
      elements = filterElements(statement, elements, scope);
    }
    if (elements.isEmpty()) {
      return run(statement.otherwise(), new Scope(scope));
    }
    var loop = new Loop(elements);
    for (int i = 0; i < elements.size(); i++) {
      loop.index = i;
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

  private List<Object> filterElements(Statement.For statement, List<Object> elements, Scope scope) {
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

  private Flow run(Statement.With with, Scope scope) {
    var inner = new Scope(scope);
    for (var set : with.assignments()) {
      assign(set.target(), evaluator.at(set.line()).evaluate(set.value(), scope), inner);
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

  private Flow assign(Target target, Object value, Scope scope) {
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
    return Flow.NORMAL;
  }

  private Flow print(String text) {
    budget.chargeAppend(out.length(), text.length());
    out.append(text);
    return Flow.NORMAL;
  }

  /** Nested variables; an assignment always goes to the innermost scope. */
  static final class Scope {
    private final Scope outer;
    private final Map<String, Object> names = new HashMap<>();

    Scope(Scope outer) {
      this.outer = outer;
    }

    void put(String name, Object value) {
      names.put(name, value);
    }

    Object find(String name) {
      for (Scope scope = this; scope != null; scope = scope.outer) {
        Object value = scope.names.get(name);
        if (value != null || scope.names.containsKey(name)) {
          return value;
        }
      }
      return Undefined.name(name);
    }
  }

  /** The {@code loop} variable of a for loop. */
  static final class Loop {
    private final List<Object> elements;
    private int index;

    private Loop(List<Object> elements) {
      this.elements = elements;
    }

    int length() {
      return elements.size();
    }

    Object attribute(String name, Object absent) {
      return switch (name) {
        case "index" -> index + 1L;
        case "index0" -> (long) index;
        case "revindex" -> (long) elements.size() - index;
        case "revindex0" -> elements.size() - index - 1L;
        case "first" -> index == 0;
        case "last" -> index == elements.size() - 1;
        case "length" -> (long) elements.size();
        // Only recursive loops, which are not supported, have a greater depth.
        case "depth" -> 1L;
        case "depth0" -> 0L;
        case "previtem" ->
            index > 0 ? elements.get(index - 1) : new Undefined("there is no previous item");
        case "nextitem" ->
            index + 1 < elements.size()
                ? elements.get(index + 1)
                : new Undefined("there is no next item");
        case "cycle" -> (Callable) this::cycle;
        default -> absent;
      };
    }

    private Object cycle(Arguments arguments) {
      List<Object> choices = arguments.positional();
      if (choices.isEmpty()) {
        throw new EvaluationException("loop.cycle needs an item to choose");
      }
      return choices.get(index % choices.size());
    }
  }

  /** A macro with the scope of its definition; a call returns the text of its body. */
  static final class Macro implements Callable {
    private final Signature signature;
    private final Scope scope;
    private final Renderer renderer;

    private Macro(Signature signature, Scope scope, Renderer renderer) {
      this.signature = signature;
      this.scope = scope;
      this.renderer = renderer;
    }

    String name() {
      return signature.name();
    }

    @Override
    public Object call(Arguments arguments) {
      var inner = new Scope(scope);
      List<Object> given = arguments.positional();
      Map<String, Object> named = new LinkedHashMap<>(arguments.named());
      inner.put("caller", named.containsKey("caller") ? named.remove("caller") : noCaller());
      int parameters = signature.parameters().size();
      for (int i = 0; i < parameters; i++) {
        inner.put(signature.parameters().get(i).name(), argument(i, given, named, inner));
      }
      var rest = given.subList(Math.min(given.size(), parameters), given.size());
      inner.put("varargs", new Sequence(Sequence.Kind.TUPLE, new ArrayList<>(rest)));
      if (!rest.isEmpty() && !signature.varargs()) {
        throw new EvaluationException(
            "the macro '%s' was given %d arguments too many".formatted(name(), rest.size()));
      }
      if (!named.isEmpty() && !signature.kwargs()) {
        throw new EvaluationException(
            "the macro '%s' has no argument %s".formatted(name(), named.keySet()));
      }
      inner.put("kwargs", Dict.of(named));
      return renderer.capture(signature.body(), inner);
    }

    /** Returns the value of a parameter, and takes it from {@code named} if it is there. */
    private Object argument(int index, List<Object> given, Map<String, Object> named, Scope inner) {
      var parameter = signature.parameters().get(index);
      if (index < given.size()) {
        if (named.containsKey(parameter.name())) {
          throw new EvaluationException(
              "the macro '%s' was given '%s' twice".formatted(name(), parameter.name()));
        }
        return given.get(index);
      }
      if (named.containsKey(parameter.name())) {
        return named.remove(parameter.name());
      }
      return parameter.fallback() == null
          ? new Undefined("the macro '%s' was not given '%s'".formatted(name(), parameter.name()))
          : renderer.evaluator.evaluate(parameter.fallback(), inner);
    }

    private static Undefined noCaller() {
      return new Undefined("'caller' is undefined, as the macro was not used in a call block");
    }
  }
}
