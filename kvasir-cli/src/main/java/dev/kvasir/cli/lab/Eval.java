package dev.kvasir.cli.lab;

import dev.kvasir.cli.arguments.LoadArguments;
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
import dev.kvasir.lab.inspect.KeyRanges;
import dev.kvasir.lab.report.Report;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Evaluates how kinds of cache change a model's output. */
@Command(
    name = "eval",
    description = {
      "Measure how KV caches change a model's output.",
      "Each row is a cache, fp16 first. Each column is a task, with its 95%%"
          + " confidence interval. Ctrl-C shows what is finished; with --json, the same"
          + " command continues from there. docs/lab.md describes the tasks."
    },
    footer = {
      "  kvasir eval --quick",
      "  kvasir eval --kv \"kivi:4;kivi:2,group=32\" --tasks ppl,kld,needle,chain",
      "  kvasir eval --tasks ppl,kld --text book.txt --context 8192 --json result.json",
      "  kvasir eval --quick --report report.html --inspect-kv",
      "  kvasir eval --tasks gsm8k --jsonl test.jsonl --temperature 0.6 --answers 8",
      "  kvasir eval --tasks prose --outliers 4:16 --kv \"kivi:2;rotatekv:2\""
    })
public final class Eval implements Callable<Integer> {
  private final Streams streams;

  @Mixin private ModelArguments model;
  @Mixin private EvalArguments arguments;
  @Mixin private TestBedArguments testBed;
  @Mixin private ReportArguments report;
  @Mixin private LoadArguments load;
  @Mixin private ClusterArguments cluster;
  @Spec private CommandSpec spec;

  @Option(names = "--json", paramLabel = "FILE", description = "Write all figures to a JSON file.")
  private Path json;

  public Eval(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    // Check the options before the model loads. With concurrent tasks, speeds would be meaningless.
    EvaluationSettings settings =
        cluster.isRemote() ? arguments.settings().untimed() : arguments.settings();
    Sources sources = arguments.sources(model.isBundled());
    EvaluationJournal journal = EvaluationJournal.none();
    if (json != null) {
      AtomicFile.checkWritable(json);
      journal = Journals.nextTo(json, Origin.of(spec));
    }
    report.check();
    EngineOptions options = testBed.apply(load.options(), arguments.seed(), cluster.isRemote());
    try (LoadedModel loaded = model.load(cluster.fitToCluster(options), streams)) {
      EvaluationSettings fitted = arguments.fitted(settings, loaded.config().contextLength());
      return evaluate(loaded, fitted, sources, journal);
    }
  }

  private int evaluate(
      LoadedModel loaded, EvaluationSettings settings, Sources sources, EvaluationJournal journal) {
    CacheEvaluator evaluator = new CacheEvaluator(loaded, settings, sources);
    try (Runner runner = cluster.runner(loaded, () -> ClusterArguments.taskInputs(model, load));
        Interruption interruption = Interruption.install()) {
      Evaluation evaluation = run(evaluator, runner, journal, interruption);
      if (evaluation.rows().isEmpty()) {
        streams.note("interrupted before anything was finished");
        return Interruption.EXIT_CODE;
      }
      new EvalTable(evaluation).print(streams.out());
      streams.out().flush();
      if (json != null) {
        EvaluationJson.write(evaluation, json);
      }
      if (evaluation.complete()) {
        journal.delete();
      }
      if (report.isWanted()) {
        Optional<KeyRanges> ranges = keyRanges(loaded, settings, sources, interruption);
        new Report(evaluation, ranges, Origin.of(spec)).write(report.file());
      }
      return evaluation.complete() ? 0 : Interruption.EXIT_CODE;
    }
  }

  private Evaluation run(
      CacheEvaluator evaluator,
      Runner runner,
      EvaluationJournal journal,
      Interruption interruption) {
    try (ProgressReporter progress = new ProgressReporter(streams, "evaluating", interruption)) {
      return evaluator.run(runner, progress, journal);
    }
  }

  /** Measures key ranges over the same part of the text. */
  private Optional<KeyRanges> keyRanges(
      LoadedModel loaded, EvaluationSettings settings, Sources sources, Interruption interruption) {
    if (!report.hasKeyRanges()) {
      return Optional.empty();
    }
    try (ProgressReporter progress = new ProgressReporter(streams, "reading keys", interruption)) {
      return KeyRanges.measure(loaded, sources.text(), settings.longestContext(), progress);
    }
  }

  /** Options for the HTML report of an evaluation. */
  private static final class ReportArguments {
    @Option(
        names = "--report",
        paramLabel = "FILE",
        description = "Write an HTML page with charts.")
    private Path file;

    @Option(names = "--inspect-kv", description = "Show the ranges of key channels in the report.")
    private boolean keyRanges;

    /** Rejects a report that could not be written in the end. */
    void check() {
      if (file != null) {
        AtomicFile.checkWritable(file);
      } else if (keyRanges) {
        throw new InvalidInputException(
            "--inspect-kv is part of a report; expected a file for it with --report FILE");
      }
    }

    boolean isWanted() {
      return file != null;
    }

    boolean hasKeyRanges() {
      return keyRanges;
    }

    Path file() {
      return file;
    }
  }
}
