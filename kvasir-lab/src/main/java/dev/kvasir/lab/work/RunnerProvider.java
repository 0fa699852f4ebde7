package dev.kvasir.lab.work;

import dev.kvasir.runtime.LoadedModel;
import java.util.Map;

/**
 * Opens runners on other machines. Implementations are found through {@link
 * java.util.ServiceLoader}, because the lab does not depend on the modules above it.
 */
public interface RunnerProvider {
  /**
   * Describes the runner to open.
   *
   * @param address where to run, as typed
   * @param settings settings of the implementation
   * @param distributeFiles whether input files are sent to the workers; otherwise every machine has
   *     them at the same paths
   * @param model the model of the plan, loaded from the inputs
   */
  record RunnerRequest(
      String address,
      Map<String, String> settings,
      boolean distributeFiles,
      TaskInputs inputs,
      LoadedModel model) {}

  /**
   * Returns the number of threads for the model of the plan when tasks run in this process too.
   *
   * @return 0 if no task runs in this process
   */
  int localThreads(String address);

  /**
   * Returns how many tasks share the heap of this process, or of one machine where tasks run
   * remotely. Resource estimates call this before anything is opened.
   *
   * @param settings settings of the implementation
   */
  int tasksPerProcess(String address, Map<String, String> settings);

  /**
   * @throws dev.kvasir.error.InvalidInputException if nothing answers at the address
   */
  Runner open(RunnerRequest request);
}
