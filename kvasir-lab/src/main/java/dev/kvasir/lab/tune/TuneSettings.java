package dev.kvasir.lab.tune;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.Calibration.Command;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.spi.QuantizationMethod;
import java.util.stream.Collectors;

/**
 * Settings of a threshold search.
 *
 * @param spec a mixkvq spec without thresholds
 * @param task task whose score is optimized
 * @param context tokens that a trial reads
 * @param samples questions or programs of a trial, for tasks that have them
 * @param trials total number of trials
 * @param maxBits maximum bits of a quantized element, with all overheads
 */
public record TuneSettings(
    CacheSpec spec, Task task, int context, int samples, int trials, double maxBits, long seed) {
  public TuneSettings {
    if (!isTuned(spec.method())) {
      throw new InvalidInputException(
          "--kv is '%s'; thresholds can be searched for %s only"
              .formatted(spec.text(), tunedMethods()));
    }
    if (spec.text().matches(".*,(high|mid|salience)=.*")) {
      throw new InvalidInputException(
          "--kv is '%s'; high and mid are what is searched, by salience=query"
              .formatted(spec.text()));
    }
  }

  private static boolean isTuned(QuantizationMethod method) {
    return method.calibration().filter(how -> how.command() == Command.TUNE).isPresent();
  }

  private static String tunedMethods() {
    return MethodRegistry.all().stream()
        .filter(TuneSettings::isTuned)
        .map(QuantizationMethod::syntax)
        .collect(Collectors.joining(", "));
  }
}
