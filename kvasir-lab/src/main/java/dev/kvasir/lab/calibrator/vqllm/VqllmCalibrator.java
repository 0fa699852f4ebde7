package dev.kvasir.lab.calibrator.vqllm;

import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationPlan;
import dev.kvasir.lab.calibrator.CalibrationRequest;
import dev.kvasir.lab.calibrator.CalibrationText;
import dev.kvasir.lab.calibrator.Calibrator;
import dev.kvasir.lab.codebook.ResidualTraining;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.methods.vqllm.VqllmProfile;
import java.util.Optional;

/** Trains residual codebooks and prints their error on held-out text. */
public final class VqllmCalibrator implements Calibrator {
  /** Each token yields one vector for each channel group of a layer. */
  private static final int TOKENS = 4096;

  @Override
  public String method() {
    return "vqllm";
  }

  @Override
  public String description() {
    return "trains residual codebooks of all layers.";
  }

  @Override
  public boolean isDistributed() {
    return false;
  }

  @Override
  public CalibrationPlan plan(CalibrationRequest request) {
    TextVectors.Settings settings =
        new TextVectors.Settings(TOKENS, request.length(), request.seed());
    CalibrationText text = request.text().orElseGet(CalibrationText::proseAndTasks);
    return context -> run(context, settings, text);
  }

  private static boolean run(
      CalibrationContext context, TextVectors.Settings settings, CalibrationText text) {
    context.profile(); // rejects another model's profile before any work
    Optional<TextVectors> vectors =
        TextVectors.read(
            context.model(),
            text.name(),
            text.content(),
            settings,
            context.console().beginPhase("reading"));
    Optional<VqllmProfile> made = vectors.flatMap(read -> train(context, read.training()));
    if (made.isEmpty()) {
      context.console().note("interrupted; nothing is kept");
      return false;
    }
    made.get()
        .addTo(context.profile(), context.model().config().cacheShape())
        .withNote(VqllmProfile.PART + "/source", settings + ", " + text.fingerprint())
        .write(context.out());
    print(context, made.get(), vectors.get().heldOut());
    return true;
  }

  private static Optional<VqllmProfile> train(CalibrationContext context, VectorSample training) {
    return new ResidualTraining(training)
        .run(context.workers(), context.console().beginPhase("training"));
  }

  private static void print(CalibrationContext context, VqllmProfile made, VectorSample heldOut) {
    for (int stages : new int[] {4, 8}) {
      context
          .console()
          .out()
          .printf(
              "vqllm:%d leaves %.3f of keys and %.3f of values%n",
              stages / 4,
              ResidualTraining.relativeError(heldOut, Side.KEYS, made, stages),
              ResidualTraining.relativeError(heldOut, Side.VALUES, made, stages));
    }
  }
}
