package dev.kvasir.cli.lab;

import com.google.gson.JsonObject;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.origin.Origin;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.eval.CacheEvaluator;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationJournal;
import dev.kvasir.lab.eval.EvaluationJson;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Sources;
import dev.kvasir.lab.report.Frontier;
import dev.kvasir.lab.report.MeasurementsFile;
import dev.kvasir.lab.report.Provenance;
import dev.kvasir.lab.report.ResultsFile;
import dev.kvasir.lab.report.StandardTable;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.TaskInputs;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures all methods under the same conditions and writes the results table to the docs. */
@Command(
    name = "compare",
    description = {
      "Compare KV caches on a model, under the same conditions.",
      "With --model, compare measures a ladder of caches on your model: divergence from fp16, secret"
          + " numbers found in a text, memory and speed. It writes a page with charts and keeps the"
          + " figures for --kv auto. Texts are as long as ten minutes allow (--minutes).",
      "Without --model, it measures a table of the documentation on the bundled model and writes it"
          + " into a document, with the machine, the commit and the command.",
      "Ctrl-C shows what is finished. The same command then goes on from there."
    },
    footer = {
      "  kvasir compare --model model.gguf",
      "  kvasir compare --model model.gguf --profile my.profile --out page.html",
      "  kvasir compare --model model.gguf --kv \"kivi:4;kivi:2,group=32\"",
      "  kvasir compare --quick --out first-look.md",
      "  kvasir compare --out docs/results.md",
      "  kvasir compare patternkv",
      "  kvasir compare patternkv --show",
      "  kvasir compare --frontier docs/pictures/frontier.svg"
    })
public final class Compare implements Callable<Integer> {
  private static final String ALL_METHODS = "methods";
  private static final Path DOCUMENT = Path.of("docs", "results.md");

  /** Lists the other tables for help. */
  static final class OtherTables implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return StandardTable.ALL.stream()
          .map(StandardTable::name)
          .filter(name -> !name.equals(ALL_METHODS))
          .iterator();
    }
  }

  private final Streams streams;

  @Spec private CommandSpec spec;
  @Mixin private ModelComparison comparison = new ModelComparison();
  @Mixin private ClusterArguments cluster;

  @Parameters(
      arity = "0..1",
      paramLabel = "TABLE",
      defaultValue = ALL_METHODS,
      completionCandidates = OtherTables.class,
      description = {
        ALL_METHODS + ": the methods at their usual widths; or one of ${COMPLETION-CANDIDATES}:",
        "  what they are compared with, and methods without each of their parts.",
        "  Default: ${DEFAULT-VALUE}."
      })
  private String table;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "With --model: the page to write. Default: NAME.compare.html. Without: the"
              + " document whose table is replaced; all figures go to a folder next to it."
              + " Default: docs/results.md.")
  private Path out;

  @Option(names = "--quick", description = "Take a first look: a short context and few samples.")
  private boolean quick;

  @Option(
      names = "--show",
      description = "Measure nothing. Print the table with its intervals, as it was last measured.")
  private boolean show;

  @Option(
      names = "--part",
      paramLabel = "I/N",
      description =
          "Measure every N-th row from the I-th on, and do not write the document. Once N"
              + " processes have done so, the command without this option finds their figures.")
  private String part;

  @Option(
      names = "--frontier",
      paramLabel = "FILE",
      description =
          "Measure nothing. Draw the divergence of all methods against their bits as SVG,"
              + " from the figures next to the document.")
  private Path frontier;

  public Compare(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    if (comparison.isRequested()) {
      rejectOptionsOfTables();
      return comparison.run(out, quick, streams);
    }
    comparison
        .typed()
        .ifPresent(
            option -> {
              throw new InvalidInputException(
                  "%s is for your own model; expected --model FILE with it".formatted(option));
            });
    if (show) {
      return showMeasured();
    }
    return frontier == null ? measure() : draw();
  }

  private int showMeasured() {
    if (quick || part != null || frontier != null || cluster.typed().isPresent()) {
      throw new InvalidInputException(
          "--show prints what was measured; expected neither --quick, --part, --frontier, --on,"
              + " --ship nor --conf beside it");
    }
    Path file = MeasurementsFile.of(document(), StandardTable.named(table).name());
    JsonObject all =
        MeasurementsFile.read(file)
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "%s: is missing; 'kvasir compare %s' measures it".formatted(file, table)));
    JsonObject evaluation =
        MeasurementsFile.evaluation(all)
            .orElseThrow(
                () -> new InvalidInputException("%s: holds no evaluation".formatted(file)));
    Evaluation measured = EvaluationJson.read(evaluation);
    new EvalTable(measured).print(streams.out());
    streams.out().println("measured %s on %s".formatted(text(all, "date"), measured.machine()));
    streams.out().println("by %s, %s".formatted(text(all, "command"), text(all, "version")));
    streams.out().flush();
    return 0;
  }

  private static String text(JsonObject all, String name) {
    return all.has(name) ? all.get(name).getAsString() : "?";
  }

  private void rejectOptionsOfTables() {
    boolean hasTable = spec.commandLine().getParseResult().hasMatchedPositional(0);
    if (hasTable || show || part != null || frontier != null || cluster.typed().isPresent()) {
      throw new InvalidInputException(
          "--model is compared in this process; expected neither a table nor --show, --part,"
              + " --frontier, --on, --ship or --conf with it");
    }
  }

  private Path document() {
    return out == null ? DOCUMENT : out;
  }

  private int draw() {
    boolean measures = quick || part != null || cluster.typed().isPresent();
    if (measures || spec.commandLine().getParseResult().hasMatchedPositional(0)) {
      throw new InvalidInputException(
          "--frontier draws what was measured; expected neither a table nor --quick, --part, --on,"
              + " --ship or --conf beside it");
    }
    AtomicFile.checkWritable(frontier);
    Frontier.of(MeasurementsFile.of(document(), ALL_METHODS).toAbsolutePath().getParent())
        .write(frontier);
    return 0;
  }

  private int measure() {
    Optional<TablePart> own = Optional.ofNullable(part).map(TablePart::parse);
    StandardTable whole = StandardTable.named(table);
    StandardTable wanted = own.map(one -> whole.part(one.number(), one.total())).orElse(whole);
    Path document = document();
    ResultsFile results = ResultsFile.at(document, wanted.name());
    EvaluationSettings settings = quick ? wanted.quickSettings() : wanted.settings();
    ModelArguments bundled = new ModelArguments();
    try (LoadedModel model = bundled.load(cluster.fitToCluster(EngineOptions.defaults()), streams);
        Runner runner = cluster.runner(model, TaskInputs::bundled);
        Interruption interruption = Interruption.install()) {
      CacheEvaluator evaluator = new CacheEvaluator(model, settings, Sources.bundled(true));
      Provenance origin = Origin.of(spec);
      Path base = document.resolveSibling(document.getFileName() + "." + wanted.name());
      if (own.isPresent()) {
        Evaluation some =
            run(evaluator, runner, Journals.ofPart(base, own.get(), origin), interruption);
        return some.complete() ? 0 : Interruption.EXIT_CODE;
      }
      EvaluationJournal journal = Journals.withParts(base, origin);
      int exit = publish(run(evaluator, runner, journal, interruption), origin, results);
      if (exit == 0) {
        journal.delete();
      }
      return exit;
    }
  }

  private Evaluation run(
      CacheEvaluator evaluator,
      Runner runner,
      EvaluationJournal journal,
      Interruption interruption) {
    try (ProgressReporter progress = new ProgressReporter(streams, "comparing", interruption)) {
      return evaluator.run(runner, progress, journal);
    }
  }

  /** Prints an evaluation; only a complete one replaces the previous results. */
  int publish(Evaluation evaluation, Provenance provenance, ResultsFile results) {
    if (!evaluation.rows().isEmpty()) {
      new EvalTable(evaluation).print(streams.out());
      streams.out().println();
      ResultsFile.facts(evaluation, provenance)
          .forEach((name, value) -> streams.out().println(name + ": " + value));
      streams.out().flush();
    }
    if (!evaluation.complete()) {
      streams.note("interrupted; %s is left as it was".formatted(results.file()));
      return Interruption.EXIT_CODE;
    }
    results.write(evaluation, provenance);
    return 0;
  }
}
