package dev.kvasir.lab.calibrator.oscar;

import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationPlan;
import dev.kvasir.lab.calibrator.CalibrationRequest;
import dev.kvasir.lab.calibrator.CalibrationText;
import dev.kvasir.lab.calibrator.Calibrator;
import dev.kvasir.lab.rotate.RotationCalibration;
import dev.kvasir.methods.oscar.OscarProfile;
import java.util.Optional;

/** Computes rotations of heads from attention statistics. */
public final class OscarCalibrator implements Calibrator {
  @Override
  public String method() {
    return "oscar";
  }

  @Override
  public String description() {
    return "computes rotations of all heads from the attention statistics of a text.";
  }

  @Override
  public boolean isDistributed() {
    return false;
  }

  @Override
  public CalibrationPlan plan(CalibrationRequest request) {
    CalibrationText text = request.text().orElseGet(CalibrationText::prose);
    return context -> run(context, request, text);
  }

  private static boolean run(
      CalibrationContext context, CalibrationRequest request, CalibrationText text) {
    context.profile(); // rejects another model's profile before any work
    Optional<OscarProfile> made = rotations(context, request, text);
    if (made.isEmpty()) {
      context.console().note("interrupted; nothing is kept");
      return false;
    }
    made.get()
        .addTo(context.profile(), context.model().config().cacheShape())
        .withNote(
            OscarProfile.PART + "/source",
            "samples %d, length %d, seed %d, ranges for %d bits, %s"
                .formatted(
                    CalibrationTexts.COUNT,
                    request.length(),
                    request.seed(),
                    RotationCalibration.BITS,
                    text.fingerprint()))
        .write(context.out());
    made.get()
        .layers()
        .forEach(
            layer ->
                context
                    .console()
                    .out()
                    .printf(
                        "of ranges is left: keys %.2f, values %.2f%n",
                        layer.keyClipping().ratio(), layer.valueClipping().ratio()));
    return true;
  }

  private static Optional<OscarProfile> rotations(
      CalibrationContext context, CalibrationRequest request, CalibrationText text) {
    return new RotationCalibration(
            context.model(), context.workers(), context.console().beginPhase("reading"))
        .run(
            CalibrationTexts.choose(
                    context.model(),
                    text.name(),
                    text.content(),
                    CalibrationTexts.COUNT,
                    request.length(),
                    request.seed())
                .samples());
  }
}
