package dev.kvasir.template;

import dev.kvasir.template.PythonValues.Markup;
import dev.kvasir.template.PythonValues.Undefined;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The evaluated arguments of one call, and the budget that the call is charged to. */
record Arguments(List<Object> positional, Map<String, Object> named, RenderBudget budget) {
  private static final Object MISSING = new Object();

  /** Assigns arguments to parameters; a surplus or unknown argument is an error. */
  Bound bind(String function, String... parameters) {
    if (positional.size() > parameters.length) {
      throw new EvaluationException(
          "%s takes at most %d arguments, found %d"
              .formatted(function, parameters.length, positional.size()));
    }
    var values = new Object[parameters.length];
    Arrays.fill(values, MISSING);
    for (int i = 0; i < positional.size(); i++) {
      values[i] = Markup.plain(positional.get(i));
    }
    named.forEach(
        (name, value) -> {
          int at = Arrays.asList(parameters).indexOf(name);
          if (at < 0) {
            throw new EvaluationException(
                "%s has no argument '%s'; it takes %s"
                    .formatted(function, name, String.join(", ", parameters)));
          }
          if (values[at] != MISSING) {
            throw new EvaluationException("%s was given '%s' twice".formatted(function, name));
          }
          values[at] = Markup.plain(value);
        });
    return new Bound(function, parameters, values);
  }

  /** Returns the arguments after the first, for filters that call another filter or test. */
  Arguments rest() {
    return new Arguments(positional.subList(1, positional.size()), named, budget);
  }

  /** The arguments of a built-in function in the order of its parameters. */
  static final class Bound {
    private final String function;
    private final String[] parameters;
    private final Object[] values;

    private Bound(String function, String[] parameters, Object[] values) {
      this.function = function;
      this.parameters = parameters;
      this.values = values;
    }

    boolean has(int index) {
      return values[index] != MISSING;
    }

    /** Returns whether an argument was given that is not {@code none}. */
    boolean isGiven(int index) {
      return has(index) && values[index] != null;
    }

    Object value(int index) {
      if (!has(index)) {
        throw new EvaluationException(
            "%s needs the argument '%s'".formatted(function, parameters[index]));
      }
      return values[index];
    }

    Object value(int index, Object fallback) {
      return has(index) ? values[index] : fallback;
    }

    String text(int index) {
      return value(index) instanceof String text ? text : wrong(index, "a string");
    }

    String text(int index, String fallback) {
      return isGiven(index) ? text(index) : fallback;
    }

    long integer(int index) {
      return switch (value(index)) {
        case Long number -> number;
        case Boolean truth -> truth ? 1 : 0;
        case null, default -> this.<Long>wrong(index, "an integer");
      };
    }

    long integer(int index, long fallback) {
      return isGiven(index) ? integer(index) : fallback;
    }

    boolean flag(int index, boolean fallback) {
      return has(index) ? PythonValues.truth(values[index]) : fallback;
    }

    private <T> T wrong(int index, String expected) {
      if (values[index] instanceof Undefined undefined) {
        throw undefined.misused();
      }
      throw EvaluationException.expected(
          "%s expects %s as '%s'".formatted(function, expected, parameters[index]), values[index]);
    }
  }
}
