package dev.kvasir.cli.lab;

import dev.kvasir.Model;
import dev.kvasir.cli.arguments.OptionValue;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.lab.codebook.CodebookTraining;
import dev.kvasir.lab.codebook.HeadCheckpoints;
import dev.kvasir.lab.codebook.SampleFolder;
import dev.kvasir.lab.codebook.SampleStorage;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.codebook.TrainingSettings;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Trains codebooks of one width and prints their error on held-out text. */
final class CommvqCalibration {
  /** With fewer vectors than first rows of a stage, a codebook would simply memorize them. */
  private static final int MIN_TOKENS = 256;

  private static final int MIN_LENGTH = 128;

  /**
   * @param bits of a channel, as in {@code commvq:BITS}
   */
  record Settings(int bits, TextVectors.Settings vectors) {
    Settings {
      OptionValue.between("--tokens", vectors.tokens(), MIN_TOKENS, 1 << 20);
      OptionValue.atLeast("--length", vectors.length(), MIN_LENGTH);
    }
  }

  private final Model model;
  private final CacheShape shape;
  private final Settings settings;
  private final CalibrationText text;
  private final Path out;
  private final Streams streams;
  private final Runner runner;
  private final Interruption interruption;

  CommvqCalibration(
      Model model,
      Settings settings,
      CalibrationText text,
      Path out,
      Streams streams,
      Runner runner,
      Interruption interruption) {
    this.model = model;
    this.shape = model.config().cacheShape();
    this.settings = settings;
    this.text = text;
    this.out = out;
    this.streams = streams;
    this.runner = runner;
    this.interruption = interruption;
  }

  /** Returns the files that an interrupted run leaves next to its result. */
  static List<Path> resumeFiles(Path out, int bits) {
    return List.of(heads(out, bits), vectors(out, bits));
  }

  private static Path heads(Path out, int bits) {
    return out.resolveSibling("%s.%d.heads".formatted(out.getFileName(), bits));
  }

  private static Path vectors(Path out, int bits) {
    return out.resolveSibling("%s.%d.vectors".formatted(out.getFileName(), bits));
  }

  /** Runs the calibration and returns the exit code. */
  int run() {
    profile(); // rejects another model's profile before any work
    TrainingSettings training =
        TrainingSettings.of(CommvqProfile.stages(settings.bits(), shape.headDim()));
    String source = source(training);
    HeadCheckpoints finished =
        new HeadCheckpoints(
            heads(out, settings.bits()), model.fingerprint(), source, shape, training.stages());
    SampleFolder samples =
        new SampleFolder(
            vectors(out, settings.bits()),
            "%s, %s".formatted(model.fingerprint(), source(settings.vectors())));
    try (samples) {
      Optional<TextVectors> vectors = read(samples);
      if (vectors.isEmpty() || !train(vectors.get().training(), training, finished)) {
        streams.note(
            "interrupted after %d of %d heads; the same command goes on from there"
                .formatted(finished.heads().size(), 2 * shape.layers() * shape.kvHeads()));
        return Interruption.EXIT_CODE;
      }
      Profile made =
          new CommvqProfile(settings.bits(), finished.layers())
              .addTo(profile())
              .withNote(CommvqProfile.part(settings.bits()) + "/training", source);
      made.write(out);
      // Measured as stored, in half precision.
      new HeldOutTable(vectors.get().heldOut(), vectors.get().length(), model.config().rotation())
          .print(
              CommvqProfile.of(made, settings.bits(), shape), streams.out(), (name, figure) -> {});
    }
    try {
      finished.delete();
    } finally {
      samples.delete();
    }
    return 0;
  }

  /**
   * Reads the current profile: training takes long, and other parts may have been added meanwhile.
   */
  private Profile profile() {
    return Profile.openOrEmpty(out, model.fingerprint(), model.name());
  }

  /** Returns everything that determines the result. */
  private String source(TrainingSettings training) {
    return "%s, %s".formatted(source(settings.vectors()), training);
  }

  private String source(TextVectors.Settings vectors) {
    return "tokens %d, length %d, seed %d, %s"
        .formatted(vectors.tokens(), vectors.length(), vectors.seed(), text.fingerprint());
  }

  private Optional<TextVectors> read(SampleStorage sampleStore) {
    try (ProgressReporter progress = new ProgressReporter(streams, "reading", interruption)) {
      return TextVectors.read(
          model, text.name(), text.content(), settings.vectors(), runner, sampleStore, progress);
    }
  }

  /** Trains the codebooks; returns false if interrupted. */
  private boolean train(VectorSample sample, TrainingSettings training, HeadCheckpoints finished) {
    try (ProgressReporter progress = new ProgressReporter(streams, "codebooks", interruption)) {
      return new CodebookTraining(sample, training, settings.vectors().seed())
          .run(finished.heads(), runner, progress, finished::save);
    }
  }
}
