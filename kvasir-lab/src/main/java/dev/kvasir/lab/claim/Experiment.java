package dev.kvasir.lab.claim;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A command that tests claims and the file with its measurements.
 *
 * @param name name of the file in the results folder
 * @param arguments arguments of the command without the output file
 * @param outputOption option for the output file; empty if the command always writes there
 */
public record Experiment(String name, List<String> arguments, String outputOption) {
  /** Returns the experiment behind a table of the results page. */
  static Experiment table(String name) {
    List<String> arguments = name.equals("methods") ? List.of("compare") : List.of("compare", name);
    return new Experiment(name, arguments, "");
  }

  /**
   * Returns the experiment of a command that writes JSON.
   *
   * @param command arguments without spaces, separated by one
   */
  static Experiment json(String name, String command) {
    return new Experiment(name, List.of(command.split(" ")), "--json");
  }

  public Path file(Path folder) {
    return folder.resolve(name + ".json");
  }

  /** Returns the command as typed in the root of the repository. */
  public List<String> command(Path folder) {
    List<String> command = new ArrayList<>(arguments);
    if (!outputOption.isEmpty()) {
      command.add(outputOption);
      command.add(file(folder).toString());
    }
    return command;
  }
}
