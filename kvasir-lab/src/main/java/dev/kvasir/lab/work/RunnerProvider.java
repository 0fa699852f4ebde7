package dev.kvasir.lab.work;

import dev.kvasir.Model;
import java.util.Map;

/**
 * Opens runners on other machines, found through {@link java.util.ServiceLoader}: the lab does not
 * know the modules above it.
 */
public interface RunnerProvider {
  /**
   * What somebody wants work to run with.
   *
   * @param place where, as typed
   * @param settings of the place, as it names them
   * @param ship whether materials are sent along; otherwise they lie at the same paths everywhere
   * @param model what the plan was made with, loaded from the materials
   */
  record RunnerRequest(
      String address,
      Map<String, String> settings,
      boolean distributeFiles,
      TaskInputs inputs,
      Model model) {}

  /**
   * Threads that the model of the plan should have, because pieces run in this process too.
   *
   * @return 0 where they do not
   */
  int localThreads(String address);

  /**
   * Pieces that run at a time on this process's heap, or on that of one machine where they run on
   * others. Works are foretold before anybody is asked, so nothing is opened for it.
   *
   * @param settings of the place, as it names them
   */
  int tasksPerProcess(String address, Map<String, String> settings);

  /**
   * @throws dev.kvasir.error.InvalidInputException where nobody is at the place
   */
  Runner open(RunnerRequest request);
}
