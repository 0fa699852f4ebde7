package dev.kvasir.cli.lab;

import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.cli.origin.Origin;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationPlan;
import dev.kvasir.lab.calibrator.CalibrationRequest;
import dev.kvasir.lab.calibrator.CalibrationText;
import dev.kvasir.lab.calibrator.Calibrator;
import dev.kvasir.lab.calibrator.Calibrators;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Calibrates a method for a model and saves the result in a profile. */
@Command(
    name = "calibrate",
    footer = {
      "  kvasir calibrate --kv pmkvq:2 --out my.profile",
      "  kvasir calibrate --kv pmkvq:2 --model model.gguf --text book.txt --bits 3",
      "  kvasir calibrate --kv commvq:1 --out my.profile",
      "  kvasir calibrate --kv commvq:2,values=encoder --out my.profile",
      "  kvasir calibrate --kv mead --model model.gguf",
      "  kvasir calibrate --kv commvq:2 --model folder --forecast --speed 500",
      "  kvasir generate --kv pmkvq:2,budget=16MiB --profile my.profile \"Once\""
    })
public final class Calibrate implements Callable<Integer> {
  private final Streams streams;

  @Spec private CommandSpec spec;

  @Mixin private ModelArguments model;

  @Option(
      names = "--kv",
      required = true,
      paramLabel = "SPEC",
      description = "The cache to calibrate for: " + MethodHelp.CALIBRATED + ".")
  private String cache;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "The profile to write. An existing profile keeps its other parts. Methods that"
              + " give layers or channels different bits also draw them in FILE.svg. Default:"
              + " profiles/FINGERPRINT.profile in $KVASIR_HOME or ~/.local/share/kvasir, where"
              + " every command finds it; the bundled model needs a file.")
  private Path out;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description =
          "Text to learn from. Default: bundled prose; codebooks also learn from bundled"
              + " tables and programs.")
  private Path text;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "Random seed. The same seed takes the same samples. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Mixin private ForecastArguments forecast = new ForecastArguments();

  @Mixin private LoadArguments load;
  @Mixin private ClusterArguments cluster;

  private Calibrate(Streams streams) {
    this.streams = streams;
  }

  /** Returns the command with the options of all registered calibrators. */
  public static CommandLine of(Streams streams) {
    CommandLine command = new CommandLine(new Calibrate(streams));
    CalibratorOptions.addTo(command.getCommandSpec());
    return command;
  }

  @Override
  public Integer call() {
    CalibratedCache target = CalibratedCache.parse(cache);
    Calibrator calibrator = calibrator(target);
    CalibratorOptions.rejectForeign(spec, target);
    forecast.check();
    if (!forecast.isForecastOnly()) {
      ProfileDestination.check(out, model);
    }
    CalibrationPlan plan = calibrator.plan(request(calibrator, target));
    ModelOutline outline = model.outline(load);
    if (out != null || !forecast.isForecastOnly()) {
      out = ProfileDestination.choose(out, outline);
    }
    checkFits(outline);
    if (calibrator.isDistributed()) {
      return runWithForecast(plan);
    }
    rejectOptionsOfLongWork();
    return runInThisProcess(plan);
  }

  /** Rejects options that do not fit the model, before its weights are loaded. */
  private void checkFits(ModelOutline outline) {
    CalibratorOptions.length(spec).ifPresent(length -> outline.requireContext("--length", length));
    if (out != null && !model.isConfigOnly()) {
      Profile.openOrEmpty(out, outline.fingerprint(), outline.name());
    }
  }

  /** Returns the calibration. A method of another module may be unknown here. */
  private static Calibrator calibrator(CalibratedCache target) {
    return Calibrators.of(target.method())
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "--kv is '%s'; known here are the calibrations of %s"
                        .formatted(target, CalibratorOptions.methods(any -> true))));
  }

  private CalibrationRequest request(Calibrator calibrator, CalibratedCache target) {
    return new CalibrationRequest(
        target.bits(),
        target.variant(),
        CalibratorOptions.length(spec).orElseGet(calibrator::defaultLength),
        seed,
        Optional.ofNullable(text)
            .map(file -> new CalibrationText(file.toString(), TextArgument.readFile(file))),
        CalibratorOptions.values(spec, calibrator),
        () -> Origin.of(spec));
  }

  private void rejectOptionsOfLongWork() {
    Optional<String> option = forecast.typed().or(cluster::typed);
    if (option.isPresent()) {
      throw new InvalidInputException(
          "--kv is '%s'; %s is for %s"
              .formatted(
                  cache, option.get(), CalibratorOptions.methods(Calibrator::isDistributed)));
    }
  }

  private int runInThisProcess(CalibrationPlan plan) {
    EngineOptions options = load.options();
    try (LoadedModel loaded = model.load(options, streams);
        WorkerPool workers = new WorkerPool(options.threads());
        Runner runner = runner(loaded, options);
        Interruption interruption = Interruption.install()) {
      return run(plan, loaded, workers, runner, interruption);
    }
  }

  private int runWithForecast(CalibrationPlan plan) {
    EngineOptions requested = load.options();
    EngineOptions options = cluster.fitToCluster(requested);
    Concurrency concurrency = new Concurrency(cluster.concurrentTasks(), options.threads());
    if (forecast.isConfigOnly(model)) {
      forecast.report(plan, model.path(), concurrency, streams);
      return 0;
    }
    try (LoadedModel loaded = model.load(options, streams);
        WorkerPool workers = new WorkerPool(requested.threads());
        Interruption interruption = Interruption.install()) {
      Forecast found = forecast.report(plan, loaded, out, concurrency, streams);
      if (forecast.isForecastOnly()) {
        return 0;
      }
      found.requireCapacity(Runtime.getRuntime().maxMemory(), out, plan.resumeFiles(out));
      try (Runner runner = runner(loaded, options)) {
        return run(plan, loaded, workers, runner, interruption);
      }
    }
  }

  private Runner runner(LoadedModel loaded, EngineOptions options) {
    return cluster.runner(
        loaded, options.threads(), () -> ClusterArguments.taskInputs(model, load));
  }

  private int run(
      CalibrationPlan plan,
      LoadedModel loaded,
      WorkerPool workers,
      Runner runner,
      Interruption interruption) {
    try (CalibrationScreen screen = new CalibrationScreen(streams, interruption)) {
      return plan.run(new CalibrationContext(loaded, out, workers, runner, screen))
          ? 0
          : Interruption.EXIT_CODE;
    }
  }
}
