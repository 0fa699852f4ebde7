package dev.kvasir.lab.calibrator.rotatekv;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.PairOrder;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationPlan;
import dev.kvasir.lab.calibrator.CalibrationRequest;
import dev.kvasir.lab.calibrator.CalibrationText;
import dev.kvasir.lab.calibrator.Calibrator;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.methods.rotatekv.RotatekvProfile;
import java.util.Optional;

/** Measures the mean key of every head, by which {@code order=calibrated} sorts channels. */
public final class RotatekvCalibrator implements Calibrator {
  /** Means of thousands of tokens differ little from those of more. */
  private static final int TOKENS = 4096;

  @Override
  public String method() {
    return "rotatekv";
  }

  @Override
  public String description() {
    return "measures the mean key of all heads, for order=calibrated.";
  }

  @Override
  public boolean isDistributed() {
    return false;
  }

  @Override
  public CalibrationPlan plan(CalibrationRequest request) {
    TextVectors.Settings settings =
        new TextVectors.Settings(TOKENS, request.length(), request.seed());
    CalibrationText text = request.text().orElseGet(CalibrationText::prose);
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
    if (vectors.isEmpty()) {
      context.console().note("interrupted; nothing is kept");
      return false;
    }
    VectorSample sample = vectors.get().training();
    CacheShape shape = context.model().config().cacheShape();
    Rotation rotation = context.model().config().sharedRotation().orElseThrow();
    means(sample, shape, PairOrder.of(rotation, shape.keyDim()))
        .addTo(context.profile(), shape)
        .withNote(RotatekvProfile.PART + "/source", settings + ", " + text.fingerprint())
        .write(context.out());
    context.console().out().printf("means of %d tokens%n", sample.count());
    return true;
  }

  /** Returns the means of a sample, whose keys are in the order of rotary pairs. */
  static RotatekvProfile means(VectorSample sample, CacheShape shape, PairOrder pairs) {
    int width = shape.keyDim();
    float[] means = new float[shape.layers() * shape.kvHeads() * width];
    for (int head = 0; head < shape.layers() * shape.kvHeads(); head++) {
      float[] keys = sample.vectors(Side.KEYS, head / shape.kvHeads(), head % shape.kvHeads());
      double[] sums = new double[width];
      for (int i = 0; i < keys.length; i++) {
        sums[i % width] += keys[i];
      }
      float[] mean = new float[width];
      for (int i = 0; i < width; i++) {
        mean[i] = (float) (sums[i] / sample.count());
      }
      pairs.scatter(mean, 0, means, head * width);
    }
    return new RotatekvProfile(means);
  }
}
