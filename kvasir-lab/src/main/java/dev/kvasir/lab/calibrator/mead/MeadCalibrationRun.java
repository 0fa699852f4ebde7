package dev.kvasir.lab.calibrator.mead;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.mead.MeadCheck;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationRequest;
import dev.kvasir.lab.calibrator.CalibrationText;
import dev.kvasir.lab.codebook.SampleFolder;
import dev.kvasir.lab.mead.MeadCalibration;
import dev.kvasir.lab.mead.MeadSettings;
import dev.kvasir.lab.mead.MeadTexts;
import dev.kvasir.lab.mead.MetricJournal;
import dev.kvasir.lab.mead.ProfileCheck;
import dev.kvasir.lab.report.BitsPlot;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A run of the calibration, which resumes what an interrupted one left. */
final class MeadCalibrationRun {
  private static final int MIN_LENGTH = 512;

  private static final String JOURNAL = ".journal";
  private static final String VECTORS = ".vectors";

  /** One profile serves all rates; the plot shows this one. */
  private static final CacheSpec PLOTTED_SPEC = CacheSpec.parse("mead:1.5");

  /** Bits of the caches that the check compares with fp16. */
  private static final List<Double> CHECKED_BITS = List.of(2.5, 2.0, 1.5);

  /** Two of each kind of questions. */
  private static final int CHECK_DOCUMENTS = 4;

  /** These, and a text of prose. */
  static final int CHECK_TEXTS = CHECK_DOCUMENTS + 1;

  /** These, and fp16. */
  static final int CHECKED_CACHES = CHECKED_BITS.size() + 1;

  private final CalibrationRequest request;
  private final MeadSettings settings;
  private final CalibrationContext context;
  private final LoadedModel model;

  MeadCalibrationRun(
      CalibrationRequest request, MeadSettings settings, CalibrationContext context) {
    this.request = request;
    this.settings = settings;
    this.context = context;
    this.model = context.model();
  }

  static List<Path> resumeFiles(Path out) {
    return List.of(
        out.resolveSibling(out.getFileName() + JOURNAL),
        out.resolveSibling(out.getFileName() + VECTORS));
  }

  /** Returns false if interrupted. */
  boolean run() {
    request.lengthBetween(MIN_LENGTH, model.config().contextLength());
    Profile before = context.profile(); // rejects another model's profile before any work
    MetricJournal journal =
        new MetricJournal(
            context.sibling(JOURNAL), model.fingerprint(), source(), model.config().cacheShape());
    SampleFolder vectors = new SampleFolder(context.sibling(VECTORS), source());
    Optional<MeadTexts> texts;
    Optional<Profile> made;
    try {
      texts = texts();
      made = texts.flatMap(read -> calibration().run(read, journal, vectors, before));
    } finally {
      vectors.delete();
    }
    if (made.isEmpty()) {
      context.console().note("interrupted; the same command goes on");
      return false;
    }
    Profile whole = withOrigin(made.get());
    whole.write(context.out());
    draw(whole);
    journal.delete();
    context.console().noteSize(context.out());
    check(whole, texts.get());
    return true;
  }

  private MeadCalibration calibration() {
    return new MeadCalibration(
        model, settings, context.workers(), context.runner(), context.console()::beginPhase);
  }

  private Profile withOrigin(Profile made) {
    Profile with = made;
    for (TableKind kind : settings.tables()) {
      with =
          with.withNote(kind.part() + "/source", source())
              .withNote(Profile.originNote(kind.part()), origin());
    }
    return with;
  }

  private String origin() {
    return "%d texts of prose and %d with lookups, %d tokens each, %s; gradients of %d texts of a kind"
        .formatted(
            settings.proseTexts(),
            settings.taskTexts(),
            settings.length(),
            request.text().map(CalibrationText::name).orElse("written by the model"),
            settings.metricTexts());
  }

  /** Tests the profile on kinds of questions that it was not made for, and records the result. */
  private void check(Profile made, MeadTexts texts) {
    int length = Math.min(request.value(MeadCalibrator.CHECK), model.config().contextLength());
    if (length == 0) {
      return;
    }
    new ProfileCheck(model, made, texts.heldOutProse(), length, CHECK_DOCUMENTS, settings.seed())
        .run(CHECKED_BITS, context.console().beginPhase("checking"))
        .map(MeadCheck::new)
        .ifPresent(
            found -> {
              String part = settings.tables().first().part();
              made.withNote(Profile.checkNote(part), found.text()).write(context.out());
              context.console().note("%s: %s".formatted(found.text(), found.verdict()));
            });
  }

  private void draw(Profile made) {
    CacheContext plotted =
        CacheContext.unknown()
            .withQueryHeads(model.config().queryHeads())
            .withRotations(model.config().rotations())
            .withProfile(Optional.of(made));
    BitsPlot.of(PLOTTED_SPEC, model.config().cacheShape(), plotted).write(context.sibling(".svg"));
  }

  private Optional<MeadTexts> texts() {
    if (request.text().isEmpty()) {
      return MeadTexts.selfGenerated(
          model, settings, context.runner(), context.console().beginPhase("making up texts"));
    }
    CalibrationText text = request.text().get();
    request.atLeast(MeadCalibrator.MIN_TEXTS, MeadCalibrator.TEXTS);
    int[] ids = model.tokenizer().encode(text.content(), false);
    long wanted = (long) MeadCalibrator.MIN_TEXTS * settings.length();
    if (ids.length < wanted) {
      throw new InvalidInputException(
          "%s has %d tokens; expected at least %d, %d texts of %d"
              .formatted(
                  text.name(), ids.length, wanted, MeadCalibrator.MIN_TEXTS, settings.length()));
    }
    return Optional.of(MeadTexts.cut(model, ids, settings));
  }

  /** Returns everything that determines the result. */
  private String source() {
    return "%s, %s"
        .formatted(settings, request.text().map(CalibrationText::fingerprint).orElse("self-made"));
  }
}
