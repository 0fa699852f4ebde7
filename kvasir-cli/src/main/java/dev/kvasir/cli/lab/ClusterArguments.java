package dev.kvasir.cli.lab;

import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.RunnerProvider;
import dev.kvasir.lab.work.TaskInput;
import dev.kvasir.lab.work.TaskInputs;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Where a command's tasks run: in this process or on a Spark cluster. */
final class ClusterArguments {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--on",
      paramLabel = "MASTER",
      description =
          "Run the tasks as Spark jobs, with the same results: spark://HOST:PORT, yarn or"
              + " local[N]. Default: in this process.")
  private String master;

  @Option(
      names = "--ship",
      description =
          "Send model and profile to all machines. Default: all machines have them at the"
              + " same paths.")
  private boolean ship;

  @Option(
      names = "--conf",
      paramLabel = "KEY=VALUE",
      description = "A Spark setting, such as spark.executor.memory=8g. May be repeated.")
  private Map<String, String> settings = new LinkedHashMap<>();

  /** Returns a typed option that applies only to a cluster, if any. */
  Optional<String> typed() {
    if (master != null) {
      return Optional.of("--on");
    }
    return ship
        ? Optional.of("--ship")
        : settings.isEmpty() ? Optional.empty() : Optional.of("--conf");
  }

  /** Returns whether tasks run outside of this process. */
  boolean isRemote() {
    if (master == null && (ship || !settings.isEmpty())) {
      throw new InvalidInputException(
          "%s is for Spark; expected --on MASTER beside it".formatted(ship ? "--ship" : "--conf"));
    }
    return master != null;
  }

  /** Returns the number of tasks that share one heap at a time, here or on another machine. */
  int concurrentTasks() {
    return isRemote() ? provider().tasksPerProcess(master, settings) : 1;
  }

  /** Adjusts the load options of the driver's model; fails early if the cluster is unavailable. */
  EngineOptions fitToCluster(EngineOptions options) {
    if (!isRemote()) {
      return options;
    }
    int threads = provider().localThreads(master);
    return threads == 0 ? options : options.withThreads(threads);
  }

  /**
   * @param inputs files that other machines load the model from
   */
  Runner runner(LoadedModel loaded, Supplier<TaskInputs> inputs) {
    return runner(loaded, Runtime.getRuntime().availableProcessors(), inputs);
  }

  /**
   * @param threads that tasks may use in this process
   * @param inputs files that other machines load the model from
   */
  Runner runner(LoadedModel loaded, int threads, Supplier<TaskInputs> inputs) {
    return isRemote()
        ? announce(
            provider()
                .open(
                    new RunnerProvider.RunnerRequest(master, settings, ship, inputs.get(), loaded)))
        : new LocalRunner(WorkerContext.of(loaded, threads));
  }

  private Runner announce(Runner runner) {
    PrintWriter to = command.commandLine().getErr();
    runner.dashboardUrl().ifPresent(page -> to.println("Spark shows the work at " + page));
    to.flush();
    return runner;
  }

  /** Returns the model and the profile it is loaded with. */
  static TaskInputs taskInputs(ModelArguments model, LoadArguments load) {
    TaskInputs inputs = TaskInputs.bundled().withContext(load.context());
    if (!model.isBundled()) {
      inputs = inputs.with(TaskInput.of(TaskInput.Role.MODEL, model.path()));
    }
    Optional<Path> profile = load.profile().or(model::foundProfile);
    return profile.isPresent()
        ? inputs.with(TaskInput.of(TaskInput.Role.PROFILE, profile.get()))
        : inputs;
  }

  private RunnerProvider provider() {
    return ServiceLoader.load(RunnerProvider.class)
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "--on is '%s', and Spark is not on the class path; expected SPARK_HOME to name"
                            .formatted(master)
                        + " a Spark 4.2 (docs/lab.md says more)"));
  }
}
