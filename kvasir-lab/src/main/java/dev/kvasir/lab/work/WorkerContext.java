package dev.kvasir.lab.work;

import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The resources that a process opens once for all tasks. Several tasks may use them concurrently:
 * the model accepts steps from several threads, and everything else a task modifies is its own.
 */
public final class WorkerContext implements AutoCloseable {
  private final Model model;
  private final int threads;
  private final Map<String, Path> files; // by the path in the plan
  private final boolean ownsModel;

  private WorkerContext(Model model, int threads, Map<String, Path> files, boolean ours) {
    this.model = model;
    this.threads = threads;
    this.files = files;
    this.ownsModel = ours;
  }

  /**
   * Returns a context for a model that the caller owns and closes; files are at the paths of the
   * plan.
   */
  public static WorkerContext of(Model model) {
    return of(model, Runtime.getRuntime().availableProcessors());
  }

  public static WorkerContext of(Model model, int threads) {
    return new WorkerContext(model, threads, Map.of(), false);
  }

  /** Returns a context without a model. */
  public static WorkerContext empty(int threads) {
    return of(null, threads);
  }

  /**
   * Loads the inputs of a plan.
   *
   * @param place maps an input to its location on this machine
   * @param threads number of threads that a task may use
   */
  public static WorkerContext open(
      TaskInputs inputs, Function<TaskInput, Path> place, int threads) {
    LoadOptions options = LoadOptions.defaults().withThreads(threads);
    if (inputs.context() > 0) {
      options = options.withContext(inputs.context());
    }
    if (inputs.profile().isPresent()) {
      options = options.withProfile(Profile.open(place.apply(inputs.profile().get())));
    }
    Map<String, Path> files = new TreeMap<>();
    inputs.files().forEach(file -> files.put(file.path(), place.apply(file)));
    LoadOptions chosen = options;
    Model model =
        inputs
            .model()
            .map(found -> Model.load(place.apply(found), chosen))
            .orElseGet(() -> Model.bundled(chosen));
    return new WorkerContext(model, threads, files, true);
  }

  /** Returns the shared model, which accepts steps from several threads at once. */
  public Model model() {
    return model;
  }

  /** Returns the number of threads that a task may use. */
  public int threads() {
    return threads;
  }

  /**
   * Returns the location of an input file on this machine.
   *
   * @param planned its path in the plan
   */
  public Path file(Path planned) {
    return files.getOrDefault(planned.toAbsolutePath().normalize().toString(), planned);
  }

  @Override
  public void close() {
    if (ownsModel) {
      model.close();
    }
  }
}
