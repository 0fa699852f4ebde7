package dev.kvasir.lab.calibrator.mead;

import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationPlan;
import dev.kvasir.lab.calibrator.CalibrationRequest;
import dev.kvasir.lab.calibrator.Calibrator;
import dev.kvasir.lab.calibrator.CalibratorOption;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.mead.MeadSettings;
import dev.kvasir.model.ModelConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.function.ToIntFunction;

/** Creates the tables of mead; one profile serves all rates. */
public final class MeadCalibrator implements Calibrator {
  static final int MIN_TEXTS = 12;

  static final CalibratorOption<Integer> TEXTS =
      CalibratorOption.of(
          "--texts",
          "N",
          Integer.class,
          96,
          "mead: texts of prose to read, --length each: of --text, or made up by the model; with 0"
              + " it",
          "  learns from questions alone. Default: ${DEFAULT-VALUE}.");

  private static final CalibratorOption<Integer> TASKS =
      CalibratorOption.of(
          "--tasks",
          "N",
          Integer.class,
          48,
          "mead: texts with questions to read; with 0 it learns from prose alone. Default:",
          "  ${DEFAULT-VALUE}.");

  private static final CalibratorOption<Integer> METRIC_TEXTS =
      CalibratorOption.of(
          "--metric-texts",
          "N",
          Integer.class,
          12,
          "mead: texts of each kind in which the loss is followed back. Default:"
              + " ${DEFAULT-VALUE}.");

  private static final CalibratorOption<Integer> ROWS =
      CalibratorOption.of(
          "--rows",
          "N",
          Integer.class,
          8192,
          "mead: tokens that have a row of their own in tables, those that are met most often."
              + " Default:",
          "  ${DEFAULT-VALUE}.");

  private static final CalibratorOption<String> TABLES =
      CalibratorOption.of(
          "--tables",
          "KINDS",
          String.class,
          "tokens,centroids,off",
          "mead: what may be taken off vectors, as tables= of the spec has it: tokens, a row for"
              + " each",
          "  id, and the first layer's; centroids, 256 rows a head; off, the mean. Default:",
          "  ${DEFAULT-VALUE}.");

  @Override
  public String method() {
    return "mead";
  }

  @Override
  public String description() {
    return "what is usual of each token, whose errors reach how far, and how bits are shared out;"
        + " for mead of any bits.";
  }

  @Override
  public List<CalibratorOption<?>> options() {
    return List.of(TEXTS, TASKS, METRIC_TEXTS, ROWS, TABLES);
  }

  @Override
  public boolean isDistributed() {
    return true;
  }

  @Override
  public CalibrationPlan plan(CalibrationRequest request) {
    boolean isTasksOnly = request.value(TEXTS) == 0 && request.value(TASKS) > 0;
    return new Plan(
        request,
        new MeadSettings(
            request.length(),
            request.atLeast(isTasksOnly ? 0 : MIN_TEXTS, TEXTS),
            request.atLeast(isTasksOnly ? MIN_TEXTS : 0, TASKS),
            request.atLeast(1, METRIC_TEXTS),
            request.atLeast(1, ROWS),
            new TreeSet<>(request.manyOf(TableKind.class, TABLES)),
            request.seed()));
  }

  private record Plan(CalibrationRequest request, MeadSettings settings)
      implements CalibrationPlan {
    @Override
    public Forecast forecast(
        ModelConfig config, ToIntFunction<String> tokens, Concurrency concurrency) {
      return MeadForecast.of(config, settings, request.text().isEmpty(), concurrency);
    }

    @Override
    public List<Path> resumeFiles(Path out) {
      return MeadCalibrationRun.resumeFiles(out);
    }

    @Override
    public boolean run(CalibrationContext context) {
      return new MeadCalibrationRun(request, settings, context).run();
    }
  }
}
