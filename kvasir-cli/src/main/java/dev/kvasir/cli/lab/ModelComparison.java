package dev.kvasir.cli.lab;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.choice.UserFolder;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.cli.origin.Origin;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.eval.CacheEvaluator;
import dev.kvasir.lab.eval.CacheLadder;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationJournal;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Reading;
import dev.kvasir.lab.eval.Sources;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.report.FiguresFile;
import dev.kvasir.lab.report.Provenance;
import dev.kvasir.lab.report.Report;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Compares caches on a user's model, and keeps the figures for {@code --kv auto}. */
final class ModelComparison {
  private static final int MINUTES = 10;

  private static final int STEPS = 40;
  private static final long SEED = 1;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Mixin private ModelArguments model;
  @Mixin private LoadArguments load;

  @Option(
      names = "--kv",
      paramLabel = "SPECS",
      description =
          "With --model: the caches to compare, separated by semicolons. Default: kivi"
              + " with 4, 3 and 2 bits, patternkv with 2, and calibrated caches if the profile"
              + " has what they need.")
  private String specs;

  @Option(
      names = "--context",
      paramLabel = "N",
      description = "With --model: tokens of the text. Default: at most 2048, see --minutes.")
  private Integer context;

  @Option(
      names = "--samples",
      paramLabel = "N",
      description = "With --model: secret numbers to find in a text. Default: at most 8.")
  private Integer samples;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      description =
          "With --model: shorten the text until the work takes at most N minutes, by the"
              + " measured speed of the model. Default: 10.")
  private Integer minutes;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description = "With --model: the text to read. Default: the first chapters of a novel.")
  private Path text;

  boolean isRequested() {
    return !model.isBundled();
  }

  /** Returns an option that was typed and has no effect without a model. */
  Optional<String> typed() {
    return List.of(
            "--kv",
            "--context",
            "--samples",
            "--minutes",
            "--text",
            "--threads",
            "--kernels",
            "--profile",
            "--model-context")
        .stream()
        .filter(option -> command.commandLine().getParseResult().hasMatchedOption(option))
        .findFirst();
  }

  /**
   * @param out the page to write; null for one in the current folder
   */
  int run(Path out, boolean quick, Streams streams) {
    Path page = out == null ? defaultPage() : out;
    AtomicFile.checkWritable(page);
    Optional<List<CacheSpec>> typed = typedSpecs();
    Sources sources = sources();
    EngineOptions options = load.options();
    ModelOutline outline = model.outline(load);
    outline.requireProfile(options.profile());
    List<ComparisonSize> sizes = sizes(outline, quick);
    Path figures = figuresFile(outline);
    Provenance origin = Origin.of(command);
    EvaluationJournal journal = Journals.nextTo(figures, origin);
    try (LoadedModel loaded = model.load(options, streams);
        Interruption interruption = Interruption.install()) {
      List<CacheSpec> caches = typed.orElseGet(() -> CacheLadder.of(loaded));
      CacheEvaluator evaluator =
          ComparisonSize.choose(
              sizes,
              size -> new CacheEvaluator(loaded, settings(caches, size), sources),
              journal,
              () -> CacheEvaluator.measureTokensPerSecond(loaded),
              60.0 * minutes(),
              streams);
      Evaluation evaluation = evaluate(evaluator, journal, interruption, streams);
      return publish(evaluation, origin, figures, page, journal, streams);
    }
  }

  private Path defaultPage() {
    return Path.of(model.shortName() + ".compare.html");
  }

  private Optional<List<CacheSpec>> typedSpecs() {
    return Optional.ofNullable(specs)
        .map(
            list ->
                Arrays.stream(list.split(";")).map(String::strip).map(CacheSpec::parse).toList());
  }

  private Sources sources() {
    Sources bundled = Sources.bundled(false);
    return text == null
        ? bundled.withText(BundledText.BOOK_NAME, BundledText.book())
        : bundled.withText(text.toString(), TextArgument.readFile(text));
  }

  private List<ComparisonSize> sizes(ModelOutline outline, boolean quick) {
    int minutes = minutes();
    if (context != null && this.minutes != null) {
      throw new InvalidInputException(
          "--minutes is %d and --context is %d; expected one of them".formatted(minutes, context));
    }
    List<ComparisonSize> sizes =
        context == null
            ? ComparisonSize.all(outline.config().contextLength(), quick)
            : List.of(ComparisonSize.of(context(outline)));
    return samples == null
        ? sizes
        : sizes.stream()
            .map(size -> size.withSamples(OptionValue.atLeastOne("--samples", samples)))
            .toList();
  }

  private int context(ModelOutline outline) {
    return outline.requireContext("--context", OptionValue.atLeast("--context", context, 256));
  }

  private int minutes() {
    return minutes == null ? MINUTES : OptionValue.atLeastOne("--minutes", minutes);
  }

  private static Path figuresFile(ModelOutline outline) {
    UserFolder folder = UserFolder.ofThisProcess();
    try {
      Files.createDirectories(folder.comparisons());
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be made".formatted(folder.comparisons()), e);
    }
    return folder.figures(outline.fingerprint());
  }

  private static EvaluationSettings settings(List<CacheSpec> caches, ComparisonSize size) {
    Set<Task> tasks =
        size.samples() > 0
            ? EnumSet.of(Task.PPL, Task.KLD, Task.NEEDLE)
            : EnumSet.of(Task.PPL, Task.KLD);
    int samples = Math.max(1, size.samples());
    return new EvaluationSettings(caches, tasks, List.of(size.context()), samples, STEPS, SEED)
        .withReading(new Reading(Prefill.CHUNKED, size.promptTokens()));
  }

  private static Evaluation evaluate(
      CacheEvaluator evaluator,
      EvaluationJournal journal,
      Interruption interruption,
      Streams streams) {
    try (ProgressReporter progress = new ProgressReporter(streams, "comparing", interruption)) {
      return evaluator.run(progress, journal);
    }
  }

  /** Prints an evaluation; only a complete one replaces the figures. */
  private static int publish(
      Evaluation evaluation,
      Provenance origin,
      Path figures,
      Path page,
      EvaluationJournal journal,
      Streams streams) {
    if (evaluation.rows().isEmpty()) {
      streams.note("interrupted before anything was finished");
      return Interruption.EXIT_CODE;
    }
    new EvalTable(evaluation).print(streams.out());
    streams.out().flush();
    new Report(evaluation, Optional.empty(), origin).write(page);
    streams.note("wrote the page %s".formatted(page));
    if (!evaluation.complete()) {
      streams.note("interrupted; the same command goes on from there");
      return Interruption.EXIT_CODE;
    }
    FiguresFile.write(figures, evaluation, origin);
    journal.delete();
    streams.note("--kv auto goes by these figures from here on, kept in %s".formatted(figures));
    return 0;
  }
}
