package dev.kvasir.lab.calibrator;

import dev.kvasir.error.OptionValue;
import dev.kvasir.lab.report.Provenance;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The options of a calibration, with checks that name the option they reject.
 *
 * @param bits width to calibrate for; 0 for a method without one
 * @param variant the spec's key and value if the method has several calibrations; else empty
 * @param length tokens that are read in sequence
 * @param text the given text; empty for a default
 * @param values of the calibrator's own options, by name; an option without a value is absent
 * @param provenance describes results that are written now
 */
public record CalibrationRequest(
    int bits,
    String variant,
    int length,
    long seed,
    Optional<CalibrationText> text,
    Map<String, Object> values,
    Supplier<Provenance> provenance) {
  private static final String LENGTH = "--length";

  public CalibrationRequest {
    values = Map.copyOf(values);
  }

  /** Returns the value of an option without a default, if it was given. */
  public <T> Optional<T> find(CalibratorOption<T> option) {
    return Optional.ofNullable(option.type().cast(values.get(option.name())));
  }

  /** Returns the value of an option with a default. */
  public <T> T value(CalibratorOption<T> option) {
    return find(option).orElseThrow();
  }

  public int atLeast(int least, CalibratorOption<Integer> option) {
    return OptionValue.atLeast(option.name(), value(option), least);
  }

  public int between(int least, int most, CalibratorOption<Integer> option) {
    return OptionValue.between(option.name(), value(option), least, most);
  }

  public int lengthOfAtLeast(int least) {
    return OptionValue.atLeast(LENGTH, length, least);
  }

  /** Returns the length, for a model that limits it. */
  public int lengthBetween(int least, int most) {
    return OptionValue.between(LENGTH, length, least, most);
  }

  /** Returns the enum constant that was typed in lower case. */
  public <E extends Enum<E>> E oneOf(Class<E> type, CalibratorOption<String> option) {
    return OptionValue.oneOf(option.name(), value(option), type);
  }

  /** Returns the enum constants that were typed in lower case, with commas between them. */
  public <E extends Enum<E>> List<E> manyOf(Class<E> type, CalibratorOption<String> option) {
    List<E> constants = new ArrayList<>();
    for (String word : value(option).split(",")) {
      constants.add(OptionValue.oneOf(option.name(), word, type));
    }
    return constants;
  }
}
