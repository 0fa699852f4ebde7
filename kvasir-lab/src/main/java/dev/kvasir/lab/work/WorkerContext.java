package dev.kvasir.lab.work;

import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * What a process has opened for pieces, once for all of them; several may work there at a time. The
 * model's steps may come from several threads, and whatever else a piece changes is its own.
 */
public final class WorkerContext implements AutoCloseable {
  private final Model model;
  private final int threads;
  private final Map<String, Path> files; // by the path that the plan knows
  private final boolean ownsModel;

  private WorkerContext(Model model, int threads, Map<String, Path> files, boolean ours) {
    this.model = model;
    this.threads = threads;
    this.files = files;
    this.ownsModel = ours;
  }

  /** A model that somebody else loaded, and closes; files lie where the plan says. */
  public static WorkerContext of(Model model) {
    return of(model, Runtime.getRuntime().availableProcessors());
  }

  /** The same with some threads. */
  public static WorkerContext of(Model model, int threads) {
    return new WorkerContext(model, threads, Map.of(), false);
  }

  /** For pieces that need no model. */
  public static WorkerContext empty(int threads) {
    return of(null, threads);
  }

  /**
   * Loads what a plan needs.
   *
   * @param place where a material lies here
   * @param threads that a piece may use
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

  /** One for all pieces; its steps may come from several threads at once. */
  public Model model() {
    return model;
  }

  /** Threads that a piece may use. */
  public int threads() {
    return threads;
  }

  /**
   * Where a file of the materials lies here.
   *
   * @param planned the path that the plan knows it by
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
