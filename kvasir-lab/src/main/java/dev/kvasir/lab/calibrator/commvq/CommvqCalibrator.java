package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.error.InvalidInputException;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

  private static final CalibratorOption<Path> IMPORT =
      CalibratorOption.withoutDefault(
          "--import",
          "FOLDER",
          Path.class,
          "commvq with values=encoder: folder with the files that the paper's authors released for"
              + " the model; nothing is trained.");

  @Override
  public String method() {
    return "commvq";
  }

  @Override
  public String description() {
    return "trains codebooks of all heads on the keys and values of a text, and prints their error"
        + " on held-out text; with values=encoder also the paper's encoders of values, or imports"
        + " what its authors released.";
  }

  @Override
  public List<CalibratorOption<?>> options() {
    List<CalibratorOption<?>> all = new ArrayList<>();
    all.add(TOKENS);
    all.addAll(CodebookOptions.all());
    all.addAll(EncoderOptions.all());
    all.add(IMPORT);
    return all;
  }

  @Override
  public boolean isDistributed() {
    return true;
  }

  @Override
  public CalibrationPlan plan(CalibrationRequest request) {
    boolean encodes = request.variant().equals(EncoderOptions.VARIANT);
    Optional<Path> released = request.find(IMPORT);
    if (released.isPresent()) {
      if (!encodes) {
        throw new InvalidInputException(
            "--import is for 'commvq:%d,%s'; --kv is 'commvq:%d'"
                .formatted(request.bits(), EncoderOptions.VARIANT, request.bits()));
      }
      if (!Files.isDirectory(released.get())) {
        throw new InvalidInputException(
            "--import is '%s'; no such folder".formatted(released.get()));
      }
      return new ImportPlan(request.bits(), released.get());
    }
    CalibrationText text = request.text().orElseGet(CalibrationText::proseAndTasks);
    if (encodes) {
      CodebookOptions.rejectAll(request);
      EncoderOptions options = EncoderOptions.of(request);
      return new EncoderPlan(
          request.bits(), options, settings(request, options.minLength()), text);
    }
    EncoderOptions.rejectAll(request);
    return new Plan(
        request.bits(), CodebookOptions.of(request), settings(request, MIN_LENGTH), text);
  }

  private static TextVectors.Settings settings(CalibrationRequest request, int minLength) {
    return new TextVectors.Settings(
        request.between(MIN_TOKENS, MAX_TOKENS, TOKENS),
        request.lengthOfAtLeast(Math.max(MIN_LENGTH, minLength)),
        request.seed());
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
