package dev.kvasir.template;

/** The arguments of a built-in function in the order of its parameters. */
final class BoundArguments {
  static final Object MISSING = new Object();

  private final String function;
  private final String[] parameters;
  private final Object[] values;

  BoundArguments(String function, String[] parameters, Object[] values) {
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
    throw new EvaluationException(
        "%s expects %s as '%s', found %s"
            .formatted(
                function, expected, parameters[index], PythonValues.typeName(values[index])));
  }
}
