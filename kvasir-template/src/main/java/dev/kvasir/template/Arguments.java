package dev.kvasir.template;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The evaluated arguments of one call. */
record Arguments(List<Object> positional, Map<String, Object> named) {
  static final Arguments NONE = new Arguments(List.of(), Map.of());

  /** Assigns arguments to parameters; a surplus or unknown argument is an error. */
  BoundArguments bind(String function, String... parameters) {
    if (positional.size() > parameters.length) {
      throw new EvaluationException(
          "%s takes at most %d arguments, found %d"
              .formatted(function, parameters.length, positional.size()));
    }
    var values = new Object[parameters.length];
    Arrays.fill(values, BoundArguments.MISSING);
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
          if (values[at] != BoundArguments.MISSING) {
            throw new EvaluationException("%s was given '%s' twice".formatted(function, name));
          }
          values[at] = Markup.plain(value);
        });
    return new BoundArguments(function, parameters, values);
  }

  /** Returns the arguments after the first, for filters that call another filter or test. */
  Arguments rest() {
    return new Arguments(positional.subList(1, positional.size()), named);
  }
}
