package dev.kvasir.cli.lab;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.calibrator.Calibrator;
import dev.kvasir.lab.calibrator.CalibratorOption;
import dev.kvasir.lab.calibrator.Calibrators;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The options and the help of all registered calibrators, as picocli needs them. */
final class CalibratorOptions {
  private static final String LENGTH = "--length";

  private CalibratorOptions() {}

  static void addTo(CommandSpec command) {
    List<String> description = new ArrayList<>();
    description.add("Calibrate a cache for a model, and save the result in a profile.");
    for (Calibrator calibrator : Calibrators.all()) {
      calibrator.options().forEach(option -> command.addOption(spec(option)));
      description.add(calibrator.method() + ": " + calibrator.description());
    }
    String local = methods(calibrator -> !calibrator.isDistributed());
    description.add(
        ("It first estimates time, memory and disk space; %s take a minute or two, make no"
                + " estimate and run in this process.")
            .formatted(local));
    description.add(
        ("Ctrl-C keeps what is finished, and the same command continues from there. Of %s nothing"
                + " is kept.")
            .formatted(local));
    command.usageMessage().description(description.toArray(String[]::new));
    command.addOption(
        OptionSpec.builder(LENGTH)
            .paramLabel("N")
            .type(Integer.class)
            .description("Tokens that are read in sequence. Default: %s.".formatted(lengths()))
            .build());
  }

  /** Returns the default lengths: the most common one, then the methods with another one. */
  private static String lengths() {
    StringBuilder lengths = new StringBuilder().append(CalibrationTexts.LENGTH);
    for (Calibrator calibrator : Calibrators.all()) {
      if (calibrator.defaultLength() != CalibrationTexts.LENGTH) {
        lengths.append(" (%s: %d)".formatted(calibrator.method(), calibrator.defaultLength()));
      }
    }
    return lengths.toString();
  }

  /** Returns the typed length, if any. */
  static Optional<Integer> length(CommandSpec command) {
    return Optional.ofNullable(command.findOption(LENGTH).<Integer>getValue());
  }

  private static OptionSpec spec(CalibratorOption<?> option) {
    return OptionSpec.builder(option.name())
        .paramLabel(option.label())
        .type(option.type())
        .defaultValue(option.defaultValue().orElse(null))
        .description(option.description().toArray(String[]::new))
        .build();
  }

  /** Returns the methods of some calibrators, as a list in a sentence. */
  static String methods(Predicate<Calibrator> some) {
    List<String> names = Calibrators.all().stream().filter(some).map(Calibrator::method).toList();
    int last = names.size() - 1;
    return names.size() < 2
        ? String.join("", names)
        : String.join(", ", names.subList(0, last)) + " and " + names.get(last);
  }

  /** Rejects options that were typed and belong to another calibrator. */
  static void rejectForeign(CommandSpec command, CalibratedCache target) {
    for (Calibrator calibrator : Calibrators.all()) {
      for (CalibratorOption<?> option : calibrator.options()) {
        if (!calibrator.method().equals(target.method())
            && command.commandLine().getParseResult().hasMatchedOption(option.name())) {
          throw new InvalidInputException(
              "%s is an option of %s; --kv is '%s'"
                  .formatted(option.name(), calibrator.method(), target));
        }
      }
    }
  }

  /** Returns the values of a calibrator's options by name. */
  static Map<String, Object> values(CommandSpec command, Calibrator calibrator) {
    Map<String, Object> values = new HashMap<>();
    for (CalibratorOption<?> option : calibrator.options()) {
      Object value = command.findOption(option.name()).getValue();
      if (value != null) {
        values.put(option.name(), value);
      }
    }
    return values;
  }
}
