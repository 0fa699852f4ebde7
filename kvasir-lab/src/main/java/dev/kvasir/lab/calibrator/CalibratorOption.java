package dev.kvasir.lab.calibrator;

import java.util.List;
import java.util.Optional;

/**
 * An option of the command line that one calibrator adds.
 *
 * @param name as typed, such as {@code --samples}; no two calibrators may use the same
 * @param label what follows it, for help
 * @param type of its value: a number, text or a path
 * @param defaultValue as typed; empty if the option has no value unless it is given
 * @param description lines of help, in which {@code ${DEFAULT-VALUE}} stands for the default
 */
public record CalibratorOption<T>(
    String name,
    String label,
    Class<T> type,
    Optional<String> defaultValue,
    List<String> description) {

  public static <T> CalibratorOption<T> of(
      String name, String label, Class<T> type, Object defaultValue, String... description) {
    return new CalibratorOption<>(
        name, label, type, Optional.of(defaultValue.toString()), List.of(description));
  }

  public static <T> CalibratorOption<T> withoutDefault(
      String name, String label, Class<T> type, String... description) {
    return new CalibratorOption<>(name, label, type, Optional.empty(), List.of(description));
  }
}
