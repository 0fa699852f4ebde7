package dev.kvasir.cli.lab;

import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.origin.Origin;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.claim.Paper;
import dev.kvasir.lab.report.Provenance;
import dev.kvasir.lab.reproduce.Conditions;
import dev.kvasir.lab.reproduce.Figures;
import dev.kvasir.lab.reproduce.FiguresJson;
import dev.kvasir.lab.reproduce.PaperTable;
import dev.kvasir.lab.reproduce.PaperTables;
import dev.kvasir.lab.reproduce.Request;
import dev.kvasir.lab.reproduce.TableJournal;
import dev.kvasir.lab.reproduce.TextTable;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Reproduces a table or figure of a paper. */
@Command(
    name = "reproduce",
    description = {
      "Reproduce a table or figure of the papers of PatternKV, PM-KVQ, MixKVQ and CommVQ.",
      "Runs the paper's rows and columns on any model, and prints the published figures in"
          + " parentheses. Benchmarks do not come with Kvasir; without them, --quick runs a few"
          + " questions of our own, which shows that a table works, not how good a cache is."
          + " Ctrl-C stops a run; with --json, the same command continues from there."
          + " docs/reproduce.md describes the data."
    },
    footer = {
      "  kvasir reproduce --list",
      "  kvasir reproduce patternkv table1 --quick",
      "  kvasir reproduce patternkv table5 --model model.gguf",
      "  kvasir reproduce mixkvq table4 --model model.gguf --data longbench",
      "  kvasir reproduce pmkvq table1 --model model.gguf --data math --run-code"
    })
public final class Reproduce implements Callable<Integer> {
  private final Streams streams;

  @Spec private CommandSpec command;
  @Mixin private ModelArguments model;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "PAPER",
      description = "patternkv, pmkvq, mixkvq or commvq.")
  private String paper;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "TABLE",
      description = "A table or figure, such as table1 or figure3a.")
  private String table;

  @Option(
      names = "--list",
      description = "List all tables and figures, what they need, and their commands.")
  private boolean list;

  @Option(names = "--quick", description = "Run the small form: few and short questions.")
  private boolean quick;

  @Option(
      names = "--data",
      paramLabel = "FOLDER",
      description = "Folder with your copies of the benchmarks.")
  private Path data;

  @Option(
      names = "--run-code",
      description = "Run generated programs with python3, with limits on time and memory.")
  private boolean runCode;

  @Option(
      names = "--samples",
      paramLabel = "N",
      description = "Questions of each data set, texts or trials. Default: all.")
  private Integer samples;

  @Option(
      names = "--context",
      paramLabel = "N",
      description = "Tokens of texts and of generated tasks. Default: the paper's.")
  private Integer context;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "Random seed. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--paper-model",
      paramLabel = "NAME",
      defaultValue = "",
      description = "The paper's model whose figures are shown. Default: its first.")
  private String paperModel;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Write all figures, with the published ones, to a JSON file.")
  private Path json;

  @Mixin private LoadArguments load;

  public Reproduce(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    Optional<Paper> chosen = Optional.ofNullable(paper).map(PaperTables::paper);
    if (list) {
      new TableList(streams.out()).print(chosen);
      return 0;
    }
    if (chosen.isEmpty() || table == null) {
      throw new InvalidInputException(
          "no table is given; expected a paper and a table of 'kvasir reproduce --list'");
    }
    PaperTable wanted = PaperTables.named(chosen.get(), table);
    Request request = request();
    wanted.procedure().check(request);
    requirePaperModel(wanted);
    TableJournal journal = TableJournal.none();
    if (json != null) {
      AtomicFile.checkWritable(json);
      journal = TableJournal.nextTo(json);
    }
    try (LoadedModel loaded = model.load(load.options(), streams);
        Interruption interruption = Interruption.install()) {
      return run(wanted, request, loaded, journal, interruption);
    }
  }

  private Request request() {
    if (data != null && !Files.isDirectory(data)) {
      throw new InvalidInputException("--data is '%s', which is no folder".formatted(data));
    }
    return new Request(
        quick,
        model.isBundled(),
        Optional.ofNullable(data),
        runCode,
        samples == null
            ? OptionalInt.empty()
            : OptionalInt.of(OptionValue.atLeastOne("--samples", samples)),
        context == null
            ? OptionalInt.empty()
            : OptionalInt.of(OptionValue.atLeast("--context", context, 256)),
        seed);
  }

  private void requirePaperModel(PaperTable wanted) {
    wanted
        .published()
        .filter(published -> published.model(paperModel).isEmpty())
        .ifPresent(
            published -> {
              throw new InvalidInputException(
                  "--paper-model is '%s'; %s has %s"
                      .formatted(paperModel, wanted.caption(), published.modelNames()));
            });
  }

  private int run(
      PaperTable wanted,
      Request request,
      LoadedModel loaded,
      TableJournal journal,
      Interruption interruption) {
    Provenance origin = Origin.of(command);
    journal.begin(
        String.join(
            "; ",
            origin.version() + " " + origin.commit().orElse(""),
            wanted.paper() + " " + wanted.id(),
            loaded.fingerprint(),
            request.toString()));
    Optional<Figures> figures;
    try (ProgressReporter progress = new ProgressReporter(streams, "measuring", interruption)) {
      figures =
          wanted
              .procedure()
              .run(
                  new Conditions(
                      loaded, request, progress, journal, new SubcommandRunner(command, streams)));
    }
    if (figures.isEmpty()) {
      streams.note(
          json == null
              ? "interrupted; with --json FILE, the same command would continue from here"
              : "interrupted; the same command continues from here");
      return Interruption.EXIT_CODE;
    }
    new TextTable(wanted, figures.get(), paperModel).lines().forEach(streams.out()::println);
    if (quick && data == null) {
      streams.out().println("Quick run: the figures do not compare with the paper's.");
    }
    streams.out().flush();
    if (json != null) {
      AtomicFile.write(json, FiguresJson.of(wanted, figures.get(), loaded.config().name(), origin));
      journal.delete();
    }
    return 0;
  }
}
