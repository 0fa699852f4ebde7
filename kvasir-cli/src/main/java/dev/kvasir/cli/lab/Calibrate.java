package dev.kvasir.cli.lab;

import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.cli.lab.ForecastArguments.ForecastFunction;
import dev.kvasir.cli.origin.Origin;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.forecast.CommvqForecast;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.forecast.MeadForecast;
import dev.kvasir.lab.forecast.PmkvqForecast;
import dev.kvasir.lab.mead.MeadSettings;
import dev.kvasir.lab.report.MeasurementsFile;
import dev.kvasir.lab.work.Runner;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Calibrates a method for a model and saves the result in a profile. */
@Command(
    name = "calibrate",
    description = {
      "Learn of a model what a kind of cache needs, and keep it in a profile.",
      "pmkvq: how many bits each layer deserves, by following the loss back to keys and values, and"
          + " factors that even out keys.",
      "commvq: codebooks of all heads, by training on the keys and values of a text; a table shows"
          + " what they leave of a part of the text that was held out.",
      "vqllm: codebooks of all layers, of what the ones before them leave.",
      "oscar: rotations of all heads, by what attention looks for and finds in a text.",
      "mead: what is usual of each token, whose errors reach how far, and how bits are shared out;"
          + " for mead of any bits.",
      "First it says how long it will take, and how much memory and disk; oscar and vqllm take a"
          + " minute or two, make no forecast and run in this process.",
      "Ctrl-C ends it; what was finished is kept, and the same command goes on after it. Of oscar"
          + " and vqllm nothing is kept."
    },
    footer = {
      "  kvasir calibrate --kv pmkvq:2 --out my.profile",
      "  kvasir calibrate --kv pmkvq:2 --model models/some-model.gguf --text book.txt --bits 3"
          + " --out my.profile",
      "  kvasir calibrate --kv commvq:1 --out my.profile",
      "  kvasir calibrate --kv mead --model models/some-model.gguf --out my.profile",
      "  kvasir calibrate --kv commvq:2 --model folder-with-config.json-alone --forecast --speed 500",
      "  kvasir generate --kv pmkvq:2,budget=16MiB --profile my.profile \"Once upon a time\""
    })
public final class Calibrate implements Callable<Integer> {
  /** The calibration of each method, by the name that its specs start with. */
  static final Map<String, Calibrator> CALIBRATORS =
      new TreeMap<>(
          Map.of(
              "pmkvq",
              new Calibrator(PmkvqArguments.OPTIONS, Calibrate::pmkvq),
              "commvq",
              new Calibrator(List.of("--tokens"), Calibrate::commvq),
              "mead",
              new Calibrator(MeadArguments.OPTIONS, Calibrate::mead),
              "oscar",
              new Calibrator(List.of(), Calibrate::oscar),
              "vqllm",
              new Calibrator(List.of(), Calibrate::vqllm)));

  /**
   * Calibrates one method.
   *
   * @param ownOptions that other methods reject
   * @param work runs the calibration for a width in bits and returns the exit code
   */
  record Calibrator(List<String> ownOptions, ToIntBiFunction<Calibrate, Integer> work) {}

  private final Streams streams;

  @Spec private CommandSpec spec;

  @Mixin private ModelArguments model;

  @Option(
      names = "--kv",
      required = true,
      paramLabel = "SPEC",
      description = "What to calibrate for: " + MethodHelp.CALIBRATED + ".")
  private String cache;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = {
        "The profile. One that is there keeps its other parts. A picture of the widths that layers",
        "  were given, or of where the bits of mead:1.5 go, is drawn into FILE.svg."
      })
  private Path out;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description = {
        "The text to learn from. Default: prose that the bundled model made up; for commvq, tables",
        "  and programs with it."
      })
  private Path text;

  @Option(
      names = "--length",
      paramLabel = "N",
      defaultValue = "" + CalibrationTexts.LENGTH,
      description = "Tokens that are read on end. Default: ${DEFAULT-VALUE}.")
  private int length;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "The same seed takes the same samples. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Mixin private PmkvqArguments pmkvqArguments;

  @Option(
      names = "--tokens",
      paramLabel = "N",
      defaultValue = "32768",
      description = {
        "commvq: tokens whose keys and values are trained on, at the most; of a longer text, any are",
        "  as likely as any others. Default: ${DEFAULT-VALUE}."
      })
  private int tokens;

  @Mixin private MeadArguments meadArguments;

  @Mixin private ForecastArguments forecast = new ForecastArguments();

  @Mixin private LoadArguments load;
  @Mixin private ClusterArguments cluster;

  public Calibrate(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    CalibratedCache target = CalibratedCache.parse(cache);
    Calibrator calibrator = calibrator(target);
    rejectForeignOptions(target);
    forecast.check();
    if (out != null) {
      AtomicFile.checkWritable(out);
    } else if (!forecast.isForecastOnly()) {
      throw new InvalidInputException("--out is missing; expected the profile to write");
    }
    return calibrator.work().applyAsInt(this, target.bits());
  }

  /** Returns the calibration. A method of another module may be unknown here. */
  private static Calibrator calibrator(CalibratedCache target) {
    return Optional.ofNullable(CALIBRATORS.get(target.method()))
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "--kv is '%s'; known here are the calibrations of %s"
                        .formatted(target, String.join(", ", CALIBRATORS.keySet()))));
  }

  private void rejectForeignOptions(CalibratedCache target) {
    CALIBRATORS.forEach(
        (owner, calibrator) -> {
          for (String option : calibrator.ownOptions()) {
            if (!owner.equals(target.method())
                && spec.commandLine().getParseResult().hasMatchedOption(option)) {
              throw new InvalidInputException(
                  "%s is an option of %s; --kv is '%s'".formatted(option, owner, target));
            }
          }
        });
  }

  private int pmkvq(int bits) {
    PmkvqCalibration.Settings settings = pmkvqArguments.settings(bits, length, seed);
    Consumer<Map<String, Double>> figures =
        pmkvqArguments
            .figures()
            .<Consumer<Map<String, Double>>>map(
                file -> numbers -> MeasurementsFile.write(file, numbers, Origin.of(spec)))
            .orElse(numbers -> {});
    CalibrationText read = textOr(CalibrationText.prose());
    return calibrate(
        (config, tokens, concurrency) ->
            PmkvqForecast.of(config, settings.samples(), length, concurrency),
        result -> List.of(), // only numbers by layer are saved
        context ->
            new PmkvqCalibration(
                    context.model(),
                    settings,
                    read,
                    out,
                    figures,
                    streams,
                    context.runner(),
                    context.interruption())
                .run());
  }

  private int commvq(int bits) {
    CommvqCalibration.Settings settings =
        new CommvqCalibration.Settings(bits, new TextVectors.Settings(tokens, length, seed));
    CalibrationText read = textOr(CalibrationText.proseAndTasks());
    return calibrate(
        (config, tokens, concurrency) ->
            CommvqForecast.of(
                config, bits, settings.vectors(), tokens.applyAsInt(read.content()), concurrency),
        result -> CommvqCalibration.resumeFiles(result, bits),
        context ->
            new CommvqCalibration(
                    context.model(),
                    settings,
                    read,
                    out,
                    streams,
                    context.runner(),
                    context.interruption())
                .run());
  }

  private int oscar(int bits) {
    CalibrationText read = textOr(CalibrationText.prose());
    return inThisProcess(
        (loaded, workers, interruption) ->
            new OscarCalibration(loaded, read, length, seed, out, streams, workers, interruption)
                .run());
  }

  private int vqllm(int bits) {
    TextVectors.Settings settings = new TextVectors.Settings(VqllmCalibration.TOKENS, length, seed);
    CalibrationText read = textOr(CalibrationText.proseAndTasks());
    return inThisProcess(
        (loaded, workers, interruption) ->
            new VqllmCalibration(loaded, settings, read, out, streams, workers, interruption)
                .run());
  }

  /** A calibration that takes a minute or two. */
  @FunctionalInterface
  private interface LocalCalibration {
    int run(Model loaded, WorkerPool workers, Interruption interruption);
  }

  /** Runs a short calibration, without a forecast and without splitting it into tasks. */
  private int inThisProcess(LocalCalibration work) {
    Optional<String> option = forecast.typed().or(cluster::typed);
    if (option.isPresent()) {
      throw new InvalidInputException(
          "--kv is '%s'; %s is for pmkvq, commvq and mead".formatted(cache, option.get()));
    }
    LoadOptions options = load.options();
    try (Model loaded = model.load(options, streams);
        WorkerPool workers = new WorkerPool(options.threads());
        Interruption interruption = Interruption.install()) {
      return work.run(loaded, workers, interruption);
    }
  }

  private int mead(int bits) {
    MeadSettings settings = meadArguments.settings(length, seed);
    Optional<CalibrationText> read = text();
    return calibrate(
        (config, tokens, concurrency) ->
            MeadForecast.of(config, settings, read.isEmpty(), concurrency),
        MeadCalibrator::resumeFiles,
        context ->
            new MeadCalibrator(
                    context.model(),
                    settings,
                    read,
                    out,
                    streams,
                    context.workers(),
                    context.runner(),
                    context.interruption())
                .run());
  }

  /** The resources of a calibration. */
  private record CalibrationContext(
      Model model, WorkerPool workers, Runner runner, Interruption interruption) {}

  /**
   * @param resumeFiles what an interrupted run leaves next to its result
   */
  private int calibrate(
      ForecastFunction estimator,
      Function<Path, List<Path>> resumeFiles,
      ToIntFunction<CalibrationContext> work) {
    LoadOptions requested = load.options();
    LoadOptions options = cluster.fitToCluster(requested);
    Concurrency concurrency = new Concurrency(cluster.concurrentTasks(), options.threads());
    if (forecast.isConfigOnly(model)) {
      forecast.report(estimator, model.path(), concurrency, streams);
      return 0;
    }
    try (Model loaded = model.load(options, streams);
        WorkerPool workers = new WorkerPool(requested.threads());
        Interruption interruption = Interruption.install()) {
      Forecast found = forecast.report(estimator, loaded, out, concurrency, streams);
      if (forecast.isForecastOnly()) {
        return 0;
      }
      found.requireCapacity(Runtime.getRuntime().maxMemory(), out, resumeFiles.apply(out));
      try (Runner runner =
          cluster.runner(
              loaded, options.threads(), () -> ClusterArguments.taskInputs(model, load))) {
        return work.applyAsInt(new CalibrationContext(loaded, workers, runner, interruption));
      }
    }
  }

  private CalibrationText textOr(CalibrationText bundled) {
    return text().orElse(bundled);
  }

  private Optional<CalibrationText> text() {
    return Optional.ofNullable(text)
        .map(file -> new CalibrationText(file.toString(), TextArgument.readFile(file)));
  }
}
