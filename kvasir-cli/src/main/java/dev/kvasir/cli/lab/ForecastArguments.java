package dev.kvasir.cli.lab;

import dev.kvasir.Model;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.forecast.SpeedMeasurement;
import dev.kvasir.lab.forecast.Speeds;
import dev.kvasir.model.ModelConfig;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.ToIntFunction;
import picocli.CommandLine.Option;

/** Whether a work is only foretold, and for how fast a machine. */
final class ForecastArguments {
  /** Of English prose, with most vocabularies. */
  private static final int CHARS_PER_TOKEN = 4;

  /** Less is done in a minute or so, and not worth a few seconds of measuring. */
  private static final double MIN_MEASURED_OPERATIONS = 1e12;

  /** Billions of operations a second where nothing is measured. */
  private static final double ASSUMED_THREAD_SPEED = 25;

  @Option(
      names = "--forecast",
      description = "Say what it would take, and end. Of a folder with a config.json alone too.")
  private boolean forecast;

  @Option(
      names = "--speed",
      paramLabel = "G",
      description = {
        "Foretell for a machine that reads text with G billions of floating-point operations a second.",
        "  Default: what this one does, measured for a few seconds where the work is worth it; 25 a",
        "  thread for a configuration alone."
      })
  private Double speed;

  /** What a work takes. */
  interface ForecastFunction {
    /**
     * @param tokens counts those of a text
     */
    Forecast of(ModelConfig config, ToIntFunction<String> tokens, Concurrency concurrency);
  }

  /** Whether nothing else is to be done. */
  boolean isForecastOnly() {
    return forecast;
  }

  /** An option that is of use to a forecast only, where any was typed. */
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

  /** Whether there is no more of a model than what a forecast needs. */
  boolean isConfigOnly(ModelArguments model) {
    return forecast && model.isConfigOnly();
  }

  void report(ForecastFunction estimator, Path folder, Concurrency concurrency, Streams streams) {
    Forecast found =
        estimator.of(ModelConfig.of(folder), text -> text.length() / CHARS_PER_TOKEN, concurrency);
    report(found, assumedSpeeds(concurrency), concurrency, null, streams);
  }

  /**
   * @param out where the result goes; null where it goes nowhere
   * @return what it takes
   */
  Forecast report(
      ForecastFunction estimator, Model model, Path out, Concurrency concurrency, Streams streams) {
    Forecast found =
        estimator.of(
            model.config(), text -> model.tokenizer().encode(text, false).length, concurrency);
    boolean measures = speed == null && (forecast || found.operations() > MIN_MEASURED_OPERATIONS);
    Speeds speeds =
        measures
            ? new SpeedMeasurement(model, concurrency.threads()).of(found.computeKinds())
            : assumedSpeeds(concurrency);
    report(found, speeds, concurrency, out, streams);
    return found;
  }

  /** What a piece has of a machine. */
  private Speeds assumedSpeeds(Concurrency concurrency) {
    int threads = concurrency.threads();
    double taskSpeed = speed == null ? threads * ASSUMED_THREAD_SPEED : speed / concurrency.tasks();
    return Speeds.stated(threads, 1e9 * taskSpeed);
  }

  /** Figures go beside the result, unless they are it. */
  private void report(
      Forecast found, Speeds speeds, Concurrency concurrency, Path out, Streams streams) {
    PrintStream to = forecast ? streams.out() : streams.err();
    FactSheet sheet = new FactSheet(to, forecast && streams.outHasColours());
    new ForecastSheet(sheet, found, speeds, concurrency)
        .print(Runtime.getRuntime().maxMemory(), out);
    to.flush();
  }
}
