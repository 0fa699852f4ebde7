package dev.kvasir.cli.lab;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.cli.origin.Origin;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.codec.mixkvq.Thresholds;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.eval.Sources;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.report.MeasurementsFile;
import dev.kvasir.lab.report.ScatterPlot;
import dev.kvasir.lab.search.Trial;
import dev.kvasir.lab.task.WordProblem;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.lab.tune.SalienceSurvey;
import dev.kvasir.lab.tune.ThresholdTuning;
import dev.kvasir.lab.tune.TuneJournal;
import dev.kvasir.lab.tune.TuneSettings;
import dev.kvasir.lab.tune.TuningResult;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.LoadedModel;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Searches the thresholds of a method and saves them in a profile. */
@Command(
    name = "tune",
    description = {
      "Search the thresholds of mixkvq for a model, and save them in a profile.",
      "Each trial reads a text with different thresholds. The best ones within"
          + " --max-bits are saved. Ctrl-C saves the best so far; the same command continues"
          + " from there."
    },
    footer = {
      "  kvasir tune --out my.profile",
      "  kvasir tune --model model.gguf --text book.txt --max-bits 3.2 --out a.profile",
      "  kvasir tune --trials 0 --scatter channels.svg",
      "  kvasir generate --kv mixkvq --profile my.profile \"Once upon a time\""
    })
public final class Tune implements Callable<Integer> {
  private static final int MIN_CONTEXT = 512;

  private final Streams streams;

  @Spec private CommandSpec command;
  @Mixin private ModelArguments model;

  @Option(
      names = "--kv",
      paramLabel = "SPEC",
      defaultValue = "mixkvq",
      description = "The cache, without thresholds. Default: ${DEFAULT-VALUE}.")
  private String cache;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "The profile to write. An existing profile keeps its other parts. Trials are"
              + " saved next to it in FILE.trials.json, and a chart of them in FILE.svg. Default:"
              + " as for 'kvasir calibrate'; the bundled model needs a file.")
  private Path out;

  @Option(
      names = "--trials",
      paramLabel = "N",
      defaultValue = "30",
      description = "Number of thresholds to try. Default: ${DEFAULT-VALUE}.")
  private int trials;

  @Option(
      names = "--max-bits",
      paramLabel = "B",
      defaultValue = "3.4",
      description =
          "Maximum bits of a quantized value, scales and channel orders included. Two"
              + " bits everywhere take 3.0 in groups of 32. Default: ${DEFAULT-VALUE}.")
  private double maxBits;

  @Option(
      names = "--objective",
      paramLabel = "TASK",
      defaultValue = "kld",
      description =
          "What to optimize, a task of 'kvasir eval': ppl, kld, needle, records or chain; or"
              + " jsonl (also called gsm8k), right answers to --jsonl. Default:"
              + " ${DEFAULT-VALUE}.")
  private String objective;

  @Option(
      names = "--jsonl",
      paramLabel = "FILE",
      description =
          "Questions for --objective jsonl: one object with 'question' and 'answer' per"
              + " line. The first --samples of them count.")
  private Path jsonl;

  @Option(
      names = "--context",
      paramLabel = "N",
      defaultValue = "1600",
      description = "Tokens that a trial reads. Default: ${DEFAULT-VALUE}.")
  private int context;

  @Option(
      names = "--samples",
      paramLabel = "N",
      defaultValue = "10",
      description = "Questions or programs of a trial. Default: ${DEFAULT-VALUE}.")
  private int samples;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description =
          "Text to learn from. Default: a bundled text, other than that of 'kvasir eval'.")
  private Path text;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "Random seed. The same seed gives the same trials. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--scatter",
      paramLabel = "FILE",
      description =
          "Draw each channel's queries against the quantization steps of its keys, as" + " SVG.")
  private Path scatter;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description =
          "Write the correlation of queries and quantization steps in each layer to a"
              + " JSON file.")
  private Path json;

  @Mixin private LoadArguments load;
  @Mixin private ClusterArguments cluster;

  public Tune(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    TuneSettings settings = settings();
    check();
    Sources sources = sources();
    ModelOutline outline = model.outline(load);
    if (trials > 0) {
      out = ProfileDestination.choose(out, outline);
    }
    checkFits(outline);
    try (LoadedModel loaded = model.load(cluster.fitToCluster(load.options()), streams);
        Interruption interruption = Interruption.install()) {
      Optional<SalienceSurvey> survey = survey(loaded, sources, interruption);
      if (survey.isEmpty()) {
        streams.note("interrupted before anything was finished");
        return Interruption.EXIT_CODE;
      }
      describe(survey.get());
      if (scatter != null) {
        draw(survey.get(), loaded.config().name()).write(scatter);
      }
      if (json != null) {
        MeasurementsFile.write(json, correlations(survey.get()), Origin.of(command));
      }
      return trials == 0 ? 0 : tune(loaded, settings, sources, survey.get(), interruption);
    }
  }

  private TuneSettings settings() {
    return new TuneSettings(
        CacheSpec.parse(cache), task(), context, samples, trials, maxBits, seed);
  }

  private Task task() {
    List<Task> chosen = new ArrayList<>(Task.parse(objective));
    if (chosen.size() != 1) {
      throw new InvalidInputException(
          "--objective is '%s'; expected one of ppl, kld, needle, records, chain, jsonl"
              .formatted(objective));
    }
    if (chosen.contains(Task.JSONL) != (jsonl != null)) {
      throw new InvalidInputException(
          jsonl == null
              ? "--objective is '%s'; expected a file of questions with --jsonl FILE"
                  .formatted(objective)
              : "--jsonl is %s; expected --objective jsonl with it".formatted(jsonl));
    }
    return chosen.getFirst();
  }

  private void check() {
    OptionValue.atLeastOne("--samples", samples);
    if (context < MIN_CONTEXT) {
      throw new InvalidInputException(
          "--context is %d; expected at least %d, so that something is quantized"
              .formatted(context, MIN_CONTEXT));
    }
    if (trials < 0 || trials == 0 && scatter == null && json == null) {
      throw new InvalidInputException(
          "--trials is %d; expected at least 1, or 0 with --scatter FILE or --json FILE"
              .formatted(trials));
    }
    if (trials > 0) {
      ProfileDestination.check(out, model);
    }
    if (scatter != null) {
      AtomicFile.checkWritable(scatter);
    }
    if (json != null) {
      AtomicFile.checkWritable(json);
    }
  }

  /** Rejects options that do not fit the model, before its weights are loaded. */
  private void checkFits(ModelOutline outline) {
    outline.requireContext("--context", context);
    if (out != null) {
      Profile.openOrEmpty(out, outline.fingerprint(), outline.name());
    }
  }

  private Sources sources() {
    Sources bundled = Sources.bundled(model.isBundled());
    Sources read =
        text == null
            ? bundled.withText("the bundled prose", BundledText.filler())
            : bundled.withText(text.toString(), TextArgument.readFile(text));
    return jsonl == null ? read : read.withProblems(WordProblem.read(jsonl));
  }

  private Optional<SalienceSurvey> survey(
      LoadedModel loaded, Sources sources, Interruption interruption) {
    try (ProgressReporter progress =
        new ProgressReporter(streams, "watching queries", interruption)) {
      return SalienceSurvey.measure(loaded, sources.text(), context, progress);
    }
  }

  private void describe(SalienceSurvey survey) {
    PrintStream to = streams.out();
    to.printf(
        Locale.ROOT,
        "salience of channels: half above %.3g, 5%% above %.3g, 1%% above %.3g%n",
        survey.byQueries().thresholdFor(0.5),
        survey.byQueries().thresholdFor(0.05),
        survey.byQueries().thresholdFor(0.01));
    to.printf(
        "correlation of queries with steps of keys, by layer: %s%n",
        layers(survey)
            .map(layer -> String.format(Locale.ROOT, "%.2f", survey.correlation(layer)))
            .collect(Collectors.joining(" ")));
    to.flush();
  }

  private static Map<String, Double> correlations(SalienceSurvey survey) {
    Map<String, Double> numbers = new HashMap<>();
    layers(survey)
        .forEach(
            layer ->
                MeasurementsFile.put(numbers, "layer " + layer, survey.correlationEstimate(layer)));
    return numbers;
  }

  private static Stream<Integer> layers(SalienceSurvey survey) {
    return survey.channels().stream().map(SalienceSurvey.Channel::layer).distinct();
  }

  private static ScatterPlot draw(SalienceSurvey survey, String name) {
    ScatterPlot plot =
        new ScatterPlot(
            name + ": what queries look at, and what is hard to pack",
            "step of a code of two bits, by channel of keys",
            "size of queries, by channel");
    layers(survey)
        .forEach(
            layer ->
                plot.points(
                    "layer " + layer,
                    survey.channels().stream()
                        .filter(one -> one.layer() == layer)
                        .map(one -> new double[] {one.step(), one.query()})
                        .toList()));
    return plot;
  }

  private int tune(
      LoadedModel loaded,
      TuneSettings settings,
      Sources sources,
      SalienceSurvey survey,
      Interruption interruption) {
    Profile before = Profile.openOrEmpty(out, loaded.fingerprint(), loaded.name());
    TuneJournal journal =
        new TuneJournal(sibling(".trials.json"), settings, loaded.fingerprint(), texts(sources));
    TuningResult tuned;
    try (Runner runner = cluster.runner(loaded, () -> ClusterArguments.taskInputs(model, load));
        ProgressReporter progress =
            new ProgressReporter(streams, "trying thresholds", interruption)) {
      tuned = new ThresholdTuning(loaded, settings, sources, journal).run(survey, runner, progress);
    }
    if (tuned.trials().isEmpty()) {
      streams.note("interrupted before anything was finished");
      return Interruption.EXIT_CODE;
    }
    print(tuned);
    tuned.profile().addTo(before).write(out);
    front(tuned).write(sibling(".svg"));
    if (!tuned.complete()) {
      streams.note(
          "interrupted after %d of %d trials; the same command goes on from there"
              .formatted(tuned.trials().size(), trials));
      return Interruption.EXIT_CODE;
    }
    return 0;
  }

  /** Returns everything that trials read and answer. */
  private static String texts(Sources sources) {
    return sources.problems().isEmpty() ? sources.text() : sources.text() + sources.problems();
  }

  private Path sibling(String ending) {
    return out.resolveSibling(out.getFileName() + ending);
  }

  private void print(TuningResult tuned) {
    PrintStream to = streams.out();
    to.printf(
        "%n%8s %8s %8s %8s %10s  of %d trials, those that none beats in both%n",
        "high", "mid", "bits", "kept", objective, tuned.trials().size());
    for (Trial trial : tuned.front()) {
      Thresholds thresholds = tuned.thresholds(trial);
      to.printf(
          Locale.ROOT,
          "%8s %8s %8.3f %7.1f%% %10.5f%s%n",
          thresholds.high(),
          thresholds.mid(),
          TuningResult.bits(trial),
          100 * trial.point().getFirst(),
          tuned.figure(trial),
          trial.equals(tuned.pick()) ? "  <- kept" : "");
    }
    if (TuningResult.bits(tuned.pick()) > maxBits) {
      to.printf(
          Locale.ROOT,
          "none has at most %s bits; the smallest is kept%n",
          Double.toString(maxBits));
    }
    to.flush();
  }

  private ScatterPlot front(TuningResult tuned) {
    return new ScatterPlot("mixkvq: thresholds tried", "bits of a packed value, all-in", objective)
        .points("trials", points(tuned, tuned.trials()))
        .line("front", points(tuned, tuned.front()))
        .points("kept", points(tuned, List.of(tuned.pick())));
  }

  private static List<double[]> points(TuningResult tuned, List<Trial> trials) {
    return trials.stream()
        .map(trial -> new double[] {TuningResult.bits(trial), tuned.figure(trial)})
        .toList();
  }
}
