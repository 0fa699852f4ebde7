package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationPlan;
import dev.kvasir.lab.calibrator.CalibrationRequest;
import dev.kvasir.lab.calibrator.CalibrationText;
import dev.kvasir.lab.calibrator.Calibrator;
import dev.kvasir.lab.calibrator.CalibratorOption;
import dev.kvasir.lab.codebook.CodebookPlan;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.model.ModelConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

/** Trains the codebooks of one width. */
public final class CommvqCalibrator implements Calibrator {
  /** With fewer vectors than first rows of a stage, a codebook would simply memorize them. */
  private static final int MIN_TOKENS = 256;

  private static final int MAX_TOKENS = 1 << 20;
  private static final int MIN_LENGTH = 128;

  private static final CalibratorOption<Integer> TOKENS =
      CalibratorOption.of(
          "--tokens",
          "N",
          Integer.class,
          32768,
          "commvq: maximum number of tokens to train on, drawn at random from a longer text."
              + " Default: ${DEFAULT-VALUE}.");

  @Override
  public String method() {
    return "commvq";
  }

  @Override
  public String description() {
    return "trains codebooks of all heads on the keys and values of a text, and prints their error"
        + " on held-out text.";
  }

  @Override
  public List<CalibratorOption<?>> options() {
    List<CalibratorOption<?>> all = new ArrayList<>();
    all.add(TOKENS);
    all.addAll(CodebookOptions.all());
    return all;
  }

  @Override
  public boolean isDistributed() {
    return true;
  }

  @Override
  public CalibrationPlan plan(CalibrationRequest request) {
    return new Plan(
        request.bits(),
        CodebookOptions.of(request),
        new TextVectors.Settings(
            request.between(MIN_TOKENS, MAX_TOKENS, TOKENS),
            request.lengthOfAtLeast(MIN_LENGTH),
            request.seed()),
        request.text().orElseGet(CalibrationText::proseAndTasks));
  }

  private record Plan(
      int bits, CodebookOptions options, TextVectors.Settings settings, CalibrationText text)
      implements CalibrationPlan {
    @Override
    public Forecast forecast(
        ModelConfig config, ToIntFunction<String> tokens, Concurrency concurrency) {
      return CommvqForecast.of(
          config,
          options.plan(config.cacheShape(), bits),
          settings,
          tokens.applyAsInt(text.content()),
          concurrency);
    }

    @Override
    public List<Path> resumeFiles(Path out) {
      return CommvqCalibration.resumeFiles(out, bits);
    }

    @Override
    public boolean run(CalibrationContext context) {
      CodebookPlan plan = options.plan(context.model().config().cacheShape(), bits);
      return new CommvqCalibration(bits, plan, settings, text, context).run();
    }
  }
}
