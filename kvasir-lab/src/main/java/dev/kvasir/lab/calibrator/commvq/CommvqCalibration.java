package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationText;
import dev.kvasir.lab.codebook.CodebookPlan;
import dev.kvasir.lab.codebook.CodebookTraining;
import dev.kvasir.lab.codebook.HeadCheckpoints;
import dev.kvasir.lab.codebook.SampleFolder;
import dev.kvasir.lab.codebook.SampleStorage;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Trains codebooks of one width and prints their error on held-out text. */
final class CommvqCalibration {
  private final int bits;
  private final CodebookPlan plan;
  private final TextVectors.Settings settings;
  private final CalibrationText text;
  private final CalibrationContext context;
  private final LoadedModel model;
  private final CacheShape shape;

  /**
   * @param bits of a channel, as in {@code commvq:BITS}
   */
  CommvqCalibration(
      int bits,
      CodebookPlan plan,
      TextVectors.Settings settings,
      CalibrationText text,
      CalibrationContext context) {
    this.bits = bits;
    this.plan = plan;
    this.settings = settings;
    this.text = text;
    this.context = context;
    this.model = context.model();
    this.shape = model.config().cacheShape();
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

  /** Returns false if interrupted. */
  boolean run() {
    context.profile(); // rejects another model's profile before any work
    String source = "%s, %s".formatted(source(), plan);
    HeadCheckpoints finished =
        new HeadCheckpoints(heads(context.out(), bits), model.fingerprint(), source, shape, plan);
    SampleFolder samples =
        new SampleFolder(
            vectors(context.out(), bits), "%s, %s".formatted(model.fingerprint(), source()));
    try (samples) {
      Optional<TextVectors> vectors = read(samples);
      if (vectors.isEmpty() || !train(vectors.get().training(), finished)) {
        context
            .console()
            .note(
                "interrupted after %d of %d codebooks; the same command goes on from there"
                    .formatted(finished.heads().size(), codebooks()));
        return false;
      }
      Profile made =
          new CommvqProfile(bits, finished.layers())
              .addTo(context.profile())
              .withNote(CommvqProfile.part(bits) + "/training", source);
      made.write(context.out());
      // Measured as stored, in half precision.
      new HeldOutTable(
              vectors.get().heldOut(),
              vectors.get().length(),
              model.config().rotations().orElseThrow())
          .print(
              CommvqProfile.of(made, bits, shape), context.console().out(), (name, figure) -> {});
    }
    try {
      finished.delete();
    } finally {
      samples.delete();
    }
    return true;
  }

  private int codebooks() {
    int ofLayer = plan.booksOfLayer(shape, Side.KEYS) + plan.booksOfLayer(shape, Side.VALUES);
    return shape.layers() * ofLayer;
  }

  /** Returns everything that determines the sampled vectors. */
  private String source() {
    return "tokens %d, length %d, seed %d, %s"
        .formatted(settings.tokens(), settings.length(), settings.seed(), text.fingerprint());
  }

  private Optional<TextVectors> read(SampleStorage sampleStore) {
    return TextVectors.read(
        model,
        text.name(),
        text.content(),
        settings,
        context.runner(),
        sampleStore,
        context.console().beginPhase("reading"));
  }

  /** Trains the codebooks; returns false if interrupted. */
  private boolean train(VectorSample sample, HeadCheckpoints finished) {
    return new CodebookTraining(sample, plan, settings.seed())
        .run(
            finished.heads(),
            context.runner(),
            context.console().beginPhase("codebooks"),
            finished::save);
  }
}
