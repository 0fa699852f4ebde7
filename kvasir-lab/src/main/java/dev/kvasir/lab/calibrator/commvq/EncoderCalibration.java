package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.EncoderProfile;
import dev.kvasir.codec.commvq.encoder.EncoderWeights;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationText;
import dev.kvasir.lab.codebook.CodebookPlan;
import dev.kvasir.lab.codebook.CodebookTraining;
import dev.kvasir.lab.codebook.HeadCheckpoints;
import dev.kvasir.lab.codebook.SampleFolder;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.codebook.encoder.AttendedTokens;
import dev.kvasir.lab.codebook.encoder.EncoderCheckpoints;
import dev.kvasir.lab.codebook.encoder.EncoderError;
import dev.kvasir.lab.codebook.encoder.EncoderSettings;
import dev.kvasir.lab.codebook.encoder.EncoderTraining;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.LoadedModel;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Trains codebooks of keys and encoders of values, and prints their error on held-out text. */
final class EncoderCalibration {
  private final int bits;
  private final CodebookPlan keys;
  private final EncoderSettings encoders;
  private final TextVectors.Settings settings;
  private final CalibrationText text;
  private final CalibrationContext context;
  private final LoadedModel model;
  private final CacheShape shape;

  EncoderCalibration(
      int bits,
      EncoderOptions options,
      TextVectors.Settings settings,
      CalibrationText text,
      CalibrationContext context) {
    this.model = context.model();
    this.shape = model.config().cacheShape();
    this.bits = bits;
    this.keys = CodebookPlan.of(shape, bits);
    this.encoders = options.settings(shape, bits);
    this.settings = settings;
    this.text = text;
    this.context = context;
  }

  /** Returns the files that an interrupted run leaves next to its result. */
  static List<Path> resumeFiles(Path out, int bits) {
    return List.of(file(out, bits, "heads"), file(out, bits, "vectors"));
  }

  private static Path file(Path out, int bits, String ending) {
    return out.resolveSibling("%s.%d.encoder.%s".formatted(out.getFileName(), bits, ending));
  }

  /** Returns false if interrupted. */
  boolean run() {
    context.profile(); // rejects another model's profile before any work
    String source = "%s, %s, %s".formatted(source(), keys, encoders);
    Path folder = file(context.out(), bits, "heads");
    HeadCheckpoints heads =
        new HeadCheckpoints(folder, model.fingerprint(), source, shape, keys);
    EncoderCheckpoints layers =
        new EncoderCheckpoints(
            folder,
            model.fingerprint(),
            source,
            encoders,
            shape.kvHeads() * shape.valueDim(),
            shape.layers());
    SampleFolder samples =
        new SampleFolder(
            file(context.out(), bits, "vectors"),
            "%s, %s".formatted(model.fingerprint(), source()));
    try (samples) {
      Optional<TextVectors> vectors = read(samples);
      if (vectors.isEmpty() || !train(vectors.get().training(), heads, layers)) {
        context
            .console()
            .note(
                "interrupted after %d of %d codebooks and %d of %d encoders; the same command goes"
                        .formatted(
                            heads.keys().size(),
                            shape.layers() * shape.kvHeads(),
                            layers.finished().size(),
                            shape.layers())
                    + " on from there");
        return false;
      }
      Profile made =
          new EncoderProfile(bits, heads.keyCodebooks(), layers.all())
              .addTo(context.profile())
              .withNote(EncoderProfile.part(bits) + "/training", source);
      made.write(context.out());
      print(vectors.get().heldOut(), EncoderProfile.of(made, bits, shape).encoders());
    }
    try {
      heads.delete();
    } finally {
      samples.delete();
    }
    return true;
  }

  /** Returns everything that determines the sampled vectors. */
  private String source() {
    return "tokens %d, length %d, seed %d, %s"
        .formatted(settings.tokens(), settings.length(), settings.seed(), text.fingerprint());
  }

  private Optional<TextVectors> read(SampleFolder samples) {
    return TextVectors.read(
        model,
        text.name(),
        text.content(),
        settings,
        context.runner(),
        samples,
        context.console().beginPhase("reading"));
  }

  private boolean train(VectorSample sample, HeadCheckpoints heads, EncoderCheckpoints layers) {
    return new CodebookTraining(sample, keys, settings.seed())
            .runSide(
                Side.KEYS,
                heads.keys(),
                context.runner(),
                context.console().beginPhase("codebooks"),
                heads::save)
        && new EncoderTraining(sample, texts(), encoders, settings.seed())
            .run(
                layers.finished(),
                context.runner(),
                context.console().beginPhase("encoders"),
                layers::save);
  }

  private List<int[]> texts() {
    return TextVectors.trainingSegments(
        CalibrationTexts.cut(model, text.content(), settings.length()).samples(),
        settings.tokens());
  }

  private void print(VectorSample heldOut, List<EncoderWeights> stored) {
    PrintStream to = context.console().out();
    to.printf(
        Locale.ROOT,
        "what is left of the values of %,d tokens that were not trained on%n",
        heldOut.count());
    to.println("layer  values: commvq:%d,values=encoder".formatted(bits));
    for (int layer = 0; layer < stored.size(); layer++) {
      AttendedTokens tokens = AttendedTokens.of(heldOut, layer);
      double left = EncoderError.of(stored.get(layer), shape.kvHeads(), tokens).ofValues();
      to.printf(Locale.ROOT, "%5d %32.4f%n", layer, left);
    }
    to.flush();
  }
}
