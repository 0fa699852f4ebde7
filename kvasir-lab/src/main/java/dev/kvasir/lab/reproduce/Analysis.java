package dev.kvasir.lab.reproduce;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A procedure that needs nothing but the model, or a profile of it.
 *
 * @param needs what it needs besides the model
 */
record Analysis(List<String> needs, Function<Conditions, Optional<Figures>> function)
    implements Procedure {
  static Analysis of(Function<Conditions, Optional<Figures>> function) {
    return new Analysis(List.of(), function);
  }

  @Override
  public Optional<Figures> run(Conditions conditions) {
    return function.apply(conditions);
  }
}
