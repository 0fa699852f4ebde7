package dev.kvasir.cli.lab;

import dev.kvasir.Model;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.rotate.RotationCalibration;
import dev.kvasir.methods.oscar.OscarProfile;
import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import java.util.Optional;

/** Computes rotations of heads from attention statistics. */
final class OscarCalibration {
  private final Model model;
  private final CalibrationText text;
  private final int length;
  private final long seed;
  private final Path out;
  private final Streams streams;
  private final WorkerPool workers;
  private final Interruption interruption;

  OscarCalibration(
      Model model,
      CalibrationText text,
      int length,
      long seed,
      Path out,
      Streams streams,
      WorkerPool workers,
      Interruption interruption) {
    this.model = model;
    this.text = text;
    this.length = length;
    this.seed = seed;
    this.out = out;
    this.streams = streams;
    this.workers = workers;
    this.interruption = interruption;
  }

  /**
   * Runs the calibration.
   *
   * @return the exit code
   */
  int run() {
    profile(); // rejects another model's profile before any work
    Optional<OscarProfile> made = rotations();
    if (made.isEmpty()) {
      streams.note("interrupted; nothing is kept");
      return Interruption.EXIT_CODE;
    }
    made.get()
        .addTo(profile(), model.config().cacheShape())
        .withNote(
            OscarProfile.PART + "/source",
            "samples %d, length %d, seed %d, ranges for %d bits, %s"
                .formatted(
                    CalibrationTexts.COUNT,
                    length,
                    seed,
                    RotationCalibration.BITS,
                    text.fingerprint()))
        .write(out);
    made.get()
        .layers()
        .forEach(
            layer ->
                streams
                    .out()
                    .printf(
                        "of ranges is left: keys %.2f, values %.2f%n",
                        layer.keyClipping().ratio(), layer.valueClipping().ratio()));
    return 0;
  }

  private Profile profile() {
    return Profile.openOrEmpty(out, model.fingerprint(), model.name());
  }

  private Optional<OscarProfile> rotations() {
    try (ProgressReporter progress = new ProgressReporter(streams, "reading", interruption)) {
      return new RotationCalibration(model, workers, progress)
          .run(
              CalibrationTexts.choose(
                      model, text.name(), text.content(), CalibrationTexts.COUNT, length, seed)
                  .samples());
    }
  }
}
