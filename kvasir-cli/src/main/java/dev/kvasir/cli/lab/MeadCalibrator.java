package dev.kvasir.cli.lab;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.OptionValue;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.SampleFolder;
import dev.kvasir.lab.mead.MeadCalibration;
import dev.kvasir.lab.mead.MeadProgress;
import dev.kvasir.lab.mead.MeadSettings;
import dev.kvasir.lab.mead.MeadTexts;
import dev.kvasir.lab.mead.MetricJournal;
import dev.kvasir.lab.report.BitsPlot;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.profile.Profile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Creates the tables of mead and prints their size. */
final class MeadCalibrator {
  private static final int MIN_LENGTH = 512;
  private static final int MIN_TEXTS = 12;

  /** One profile serves all rates; the plot shows this one. */
  private static final CacheSpec PLOTTED_SPEC = CacheSpec.parse("mead:1.5");

  private final Model model;
  private final MeadSettings settings;
  private final Optional<CalibrationText> text;
  private final Path out;
  private final Streams streams;
  private final WorkerPool workers;
  private final Runner runner;
  private final Interruption interruption;

  MeadCalibrator(
      Model model,
      MeadSettings settings,
      Optional<CalibrationText> text,
      Path out,
      Streams streams,
      WorkerPool workers,
      Runner runner,
      Interruption interruption) {
    OptionValue.between("--length", settings.length(), MIN_LENGTH, model.config().contextLength());
    this.model = model;
    this.settings = settings;
    this.text = text;
    this.out = out;
    this.streams = streams;
    this.workers = workers;
    this.runner = runner;
    this.interruption = interruption;
  }

  /**
   * @param names as typed
   */
  static SortedSet<TableKind> kinds(List<String> names) {
    return names.stream()
        .map(name -> OptionValue.oneOf("--tables", name, TableKind.class))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Rejects settings that no model allows. */
  static MeadSettings validated(MeadSettings settings) {
    boolean isTasksOnly = settings.proseTexts() == 0 && settings.taskTexts() > 0;
    OptionValue.atLeast("--texts", settings.proseTexts(), isTasksOnly ? 0 : MIN_TEXTS);
    OptionValue.atLeast("--tasks", settings.taskTexts(), isTasksOnly ? MIN_TEXTS : 0);
    OptionValue.atLeast("--metric-texts", settings.metricTexts(), 1);
    OptionValue.atLeast("--rows", settings.tableRows(), 1);
    return settings;
  }

  /** Returns the files that an interrupted run leaves next to its result. */
  static List<Path> resumeFiles(Path out) {
    return List.of(sibling(out, ".journal"), sibling(out, ".vectors"));
  }

  private static Path sibling(Path out, String ending) {
    return out.resolveSibling(out.getFileName() + ending);
  }

  /**
   * Runs the calibration.
   *
   * @return the exit code
   */
  int run() {
    Profile before = profile(); // rejects another model's profile before any work
    MetricJournal journal =
        new MetricJournal(
            sibling(out, ".journal"), model.fingerprint(), source(), model.config().cacheShape());
    SampleFolder vectors = new SampleFolder(sibling(out, ".vectors"), source());
    try (Stages stages = new Stages()) {
      Optional<MeadTexts> texts = texts(stages);
      Optional<Profile> made =
          texts.flatMap(
              read ->
                  new MeadCalibration(model, settings, workers, runner, stages)
                      .run(read, journal, vectors, before));
      if (made.isEmpty()) {
        streams.note("interrupted; the same command goes on");
        return Interruption.EXIT_CODE;
      }
      Profile whole = made.get();
      for (TableKind kind : settings.tables()) {
        whole = whole.withNote(kind.part() + "/source", source());
      }
      whole.write(out);
      draw(whole);
    } finally {
      vectors.delete();
    }
    journal.delete();
    streams.note("%s has %s".formatted(out, Units.bytes(size())));
    return 0;
  }

  private void draw(Profile made) {
    CacheContext context =
        CacheContext.unknown()
            .withQueryHeads(model.config().queryHeads())
            .withRotation(Optional.of(model.config().rotation()))
            .withProfile(Optional.of(made));
    BitsPlot.of(PLOTTED_SPEC, model.config().cacheShape(), context).write(sibling(out, ".svg"));
  }

  private Optional<MeadTexts> texts(Stages stages) {
    if (text.isEmpty()) {
      return MeadTexts.selfGenerated(model, settings, runner, stages.beginPhase("making up texts"));
    }
    OptionValue.atLeast("--texts", settings.proseTexts(), MIN_TEXTS);
    int[] ids = model.tokenizer().encode(text.get().content(), false);
    long wanted = (long) MIN_TEXTS * settings.length();
    if (ids.length < wanted) {
      throw new InvalidInputException(
          "%s has %d tokens; expected at least %d, %d texts of %d"
              .formatted(text.get().name(), ids.length, wanted, MIN_TEXTS, settings.length()));
    }
    return Optional.of(MeadTexts.cut(model, ids, settings));
  }

  private String source() {
    return "%s, %s".formatted(settings, text.map(CalibrationText::fingerprint).orElse("self-made"));
  }

  private Profile profile() {
    return Profile.openOrEmpty(out, model.fingerprint(), model.name());
  }

  private long size() {
    try {
      return Files.size(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Shows one progress line for each stage. */
  private final class Stages implements MeadProgress, AutoCloseable {
    private ProgressReporter last; // null before the first stage

    @Override
    public ProgressListener beginPhase(String work) {
      close();
      last = new ProgressReporter(streams, work, interruption);
      return last;
    }

    @Override
    public void close() {
      if (last != null) {
        last.close();
        last = null;
      }
    }
  }
}
