package dev.kvasir.cli.lab;

import dev.kvasir.Model;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.forecast.AtATime;
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
  private static final double WORTH_MEASURING = 1e12;

  /** Billions of operations a second where nothing is measured. */
  private static final double SPEED_OF_A_THREAD = 25;

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
  interface Foretelling {
    /**
     * @param tokens counts those of a text
     */
    Forecast of(ModelConfig config, ToIntFunction<String> tokens, AtATime atATime);
  }

  /** Whether nothing else is to be done. */
  boolean isAll() {
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
  boolean isOfConfiguration(ModelArguments model) {
    return forecast && model.isConfigurationAlone();
  }

  void tell(Foretelling foretelling, Path folder, AtATime atATime, Streams streams) {
    Forecast found =
        foretelling.of(ModelConfig.of(folder), text -> text.length() / CHARS_PER_TOKEN, atATime);
    tell(found, stated(atATime), atATime, null, streams);
  }

  /**
   * @param out where the result goes; null where it goes nowhere
   * @return what it takes
   */
  Forecast tell(Foretelling foretelling, Model model, Path out, AtATime atATime, Streams streams) {
    Forecast found =
        foretelling.of(
            model.config(), text -> model.tokenizer().encode(text, false).length, atATime);
    boolean measures = speed == null && (forecast || found.operations() > WORTH_MEASURING);
    Speeds speeds =
        measures
            ? new SpeedMeasurement(model, atATime.threads()).of(found.efforts())
            : stated(atATime);
    tell(found, speeds, atATime, out, streams);
    return found;
  }

  /** What a piece has of a machine. */
  private Speeds stated(AtATime atATime) {
    int threads = atATime.threads();
    double ofPiece = speed == null ? threads * SPEED_OF_A_THREAD : speed / atATime.pieces();
    return Speeds.stated(threads, 1e9 * ofPiece);
  }

  /** Figures go beside the result, unless they are it. */
  private void tell(Forecast found, Speeds speeds, AtATime atATime, Path out, Streams streams) {
    PrintStream to = forecast ? streams.out() : streams.err();
    FactSheet sheet = new FactSheet(to, forecast && streams.outHasColours());
    new ForecastSheet(sheet, found, speeds, atATime).tell(Runtime.getRuntime().maxMemory(), out);
    to.flush();
  }
}
