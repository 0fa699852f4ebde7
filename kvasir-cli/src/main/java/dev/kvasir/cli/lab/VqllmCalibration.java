package dev.kvasir.cli.lab;

import dev.kvasir.Model;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.codebook.ResidualTraining;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.methods.vqllm.VqllmProfile;
import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import java.util.Optional;

/** Trains residual codebooks and prints their error on held-out text. */
final class VqllmCalibration {
  /** Each token yields one vector for each channel group of a layer. */
  static final int TOKENS = 4096;

  private final Model model;
  private final TextVectors.Settings settings;
  private final CalibrationText text;
  private final Path out;
  private final Streams streams;
  private final WorkerPool workers;
  private final Interruption interruption;

  VqllmCalibration(
      Model model,
      TextVectors.Settings settings,
      CalibrationText text,
      Path out,
      Streams streams,
      WorkerPool workers,
      Interruption interruption) {
    this.model = model;
    this.settings = settings;
    this.text = text;
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
    Optional<TextVectors> vectors = read();
    Optional<VqllmProfile> made = vectors.flatMap(this::train);
    if (made.isEmpty()) {
      streams.note("interrupted; nothing is kept");
      return Interruption.EXIT_CODE;
    }
    made.get()
        .addTo(profile(), model.config().cacheShape())
        .withNote(VqllmProfile.PART + "/source", settings + ", " + text.fingerprint())
        .write(out);
    for (int stages : new int[] {4, 8}) {
      streams
          .out()
          .printf(
              "vqllm:%d leaves %.3f of keys and %.3f of values%n",
              stages / 4,
              ResidualTraining.relativeError(
                  vectors.get().heldOut(), Side.KEYS, made.get(), stages),
              ResidualTraining.relativeError(
                  vectors.get().heldOut(), Side.VALUES, made.get(), stages));
    }
    return 0;
  }

  private Profile profile() {
    return Profile.openOrEmpty(out, model.fingerprint(), model.name());
  }

  private Optional<TextVectors> read() {
    try (ProgressReporter progress = new ProgressReporter(streams, "reading", interruption)) {
      return TextVectors.read(model, text.name(), text.content(), settings, progress);
    }
  }

  private Optional<VqllmProfile> train(TextVectors vectors) {
    try (ProgressReporter progress = new ProgressReporter(streams, "training", interruption)) {
      return new ResidualTraining(vectors.training()).run(workers, progress);
    }
  }
}
