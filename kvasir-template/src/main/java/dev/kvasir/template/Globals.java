package dev.kvasir.template;

import java.time.Clock;
import java.time.LocalDateTime;
import java.util.ArrayList;

/** The global functions of chat templates. */
final class Globals {
  /** Python's sandbox has the same limit. */
  private static final long MAX_RANGE = 100_000;

  private Globals() {}

  static Scope scope(Clock clock, RenderBudget budget) {
    var scope = new Scope(null);
    define(scope, "raise_exception", Globals::raise);
    define(
        scope,
        "strftime_now",
        arguments ->
            Strftime.format(
                arguments.bind("strftime_now", "format").text(0), LocalDateTime.now(clock)));
    define(scope, "range", arguments -> range(arguments, budget));
    define(scope, "namespace", arguments -> new Namespace(dict("namespace", arguments, budget)));
    define(scope, "dict", arguments -> dict("dict", arguments, budget));
    return scope;
  }

  private static void define(Scope scope, String name, Callable function) {
    scope.put(name, function);
  }

  private static Object raise(Arguments arguments) {
    Object message = arguments.bind("raise_exception", "message").value(0, "");
    throw new EvaluationException("the template refuses its input: " + PythonText.str(message));
  }

  private static Sequence range(Arguments arguments, RenderBudget budget) {
    BoundArguments bound = arguments.bind("range", "start", "stop", "step");
    long start = bound.has(1) ? bound.integer(0) : 0;
    long stop = bound.has(1) ? bound.integer(1) : bound.integer(0);
    long step = bound.integer(2, 1);
    if (step == 0) {
      throw new EvaluationException("a range step of zero");
    }
    double count = Math.ceil(((double) stop - start) / step);
    if (count > MAX_RANGE) {
      throw new EvaluationException("a range of more than " + MAX_RANGE + " numbers");
    }
    budget.chargeElements((long) Math.max(0, count));
    var numbers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      numbers.add(start + i * step);
    }
    return new Sequence(Sequence.Kind.RANGE, numbers);
  }

  private static Dict dict(String function, Arguments arguments, RenderBudget budget) {
    var dict = new Dict();
    if (arguments.positional().size() > 1) {
      throw new EvaluationException(function + " takes at most one argument without a name");
    }
    arguments.positional().forEach(from -> DictMethods.addAll(dict, from, budget));
    arguments.named().forEach(dict::put);
    return dict;
  }
}
