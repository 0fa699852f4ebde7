package dev.kvasir.lab.reproduce;

import dev.kvasir.error.InvalidInputException;
import java.util.List;
import java.util.Optional;

/**
 * A table or figure that no command reproduces.
 *
 * @param reason a clause that says why, such as "it shows no measurement"
 */
record NoMeasurement(String reason) implements Procedure {
  @Override
  public List<String> needs() {
    return List.of("not runnable: " + reason);
  }

  @Override
  public void check(Request request) {
    throw new InvalidInputException("there is nothing to run: " + reason);
  }

  @Override
  public Optional<Figures> run(Conditions conditions) {
    return Optional.empty();
  }
}
