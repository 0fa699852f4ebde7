package dev.kvasir.cli.lab;

import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.calibrator.CalibrationPlan;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.forecast.SpeedMeasurement;
import dev.kvasir.lab.forecast.Speeds;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.runtime.LoadedModel;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Options for the cost forecast of a calibration. */
final class ForecastArguments {
  /** For English prose with most vocabularies. */
  private static final int CHARS_PER_TOKEN = 4;

  /** Smaller work ends in about a minute and does not justify seconds of measuring. */
  private static final double MIN_MEASURED_OPERATIONS = 1e12;

  /** Billions of operations per second, if nothing is measured. */
  private static final double ASSUMED_THREAD_SPEED = 25;

  @Option(
      names = "--forecast",
      description =
          "Print the estimated time, memory and disk space, and stop. A folder with only"
              + " a config.json is enough.")
  private boolean forecast;

  @Option(
      names = "--speed",
      paramLabel = "G",
      description =
          "Estimate for a machine that reads text at G billion floating-point operations"
              + " per second. Default: the speed of this machine, measured for a few seconds if"
              + " the work is long; 25 per thread for a config.json alone.")
  private Double speed;

  /** Returns whether only the forecast is wanted. */
  boolean isForecastOnly() {
    return forecast;
  }

  /** Returns a typed option that applies only to forecasts, if any. */
  Optional<String> typed() {
    if (forecast) {
      return Optional.of("--forecast");
    }
    return Optional.ofNullable(speed).map(any -> "--speed");
  }

  void check() {
    if (speed != null && !(speed > 0)) {
      throw new InvalidInputException("--speed is %s; expected more than 0".formatted(speed));
    }
  }

  /** Returns whether a forecast from a configuration without weights is wanted. */
  boolean isConfigOnly(ModelArguments model) {
    return forecast && model.isConfigOnly();
  }

  void report(CalibrationPlan plan, Path folder, Concurrency concurrency, Streams streams) {
    Forecast found =
        plan.forecast(ModelConfig.of(folder), text -> text.length() / CHARS_PER_TOKEN, concurrency);
    report(found, assumedSpeeds(concurrency), concurrency, null, streams);
  }

  /**
   * Prints the forecast for a loaded model.
   *
   * @param out file of the result; null if there is none
   * @return the forecast
   */
  Forecast report(
      CalibrationPlan plan, LoadedModel model, Path out, Concurrency concurrency, Streams streams) {
    Forecast found =
        plan.forecast(
            model.config(), text -> model.tokenizer().encode(text, false).length, concurrency);
    boolean measures = speed == null && (forecast || found.operations() > MIN_MEASURED_OPERATIONS);
    Speeds speeds =
        measures
            ? new SpeedMeasurement(model, concurrency.threads()).of(found.computeKinds())
            : assumedSpeeds(concurrency);
    report(found, speeds, concurrency, out, streams);
    return found;
  }

  /** Returns the assumed speed of a task, which has a share of its machine. */
  private Speeds assumedSpeeds(Concurrency concurrency) {
    int threads = concurrency.threads();
    double taskSpeed = speed == null ? threads * ASSUMED_THREAD_SPEED : speed / concurrency.tasks();
    return Speeds.stated(threads, 1e9 * taskSpeed);
  }

  /** Prints to standard error, or to standard output if the forecast is the result. */
  private void report(
      Forecast found, Speeds speeds, Concurrency concurrency, Path out, Streams streams) {
    PrintStream to = forecast ? streams.out() : streams.err();
    FactSheet sheet = new FactSheet(to, forecast && streams.outHasColours());
    new ForecastSheet(sheet, found, speeds, concurrency)
        .print(Runtime.getRuntime().maxMemory(), out);
    to.flush();
  }
}
