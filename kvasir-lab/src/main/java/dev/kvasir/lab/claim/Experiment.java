package dev.kvasir.lab.claim;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A command that tries claims, and the file that it leaves its figures in.
 *
 * @param name of the file in the folder of results
 * @param arguments of the command, without where it writes
 * @param target the option that is told where; empty where the command writes there by itself
 */
public record Experiment(String name, List<String> arguments, String outputOption) {
  /** A table of the results page, which leaves its figures beside it. */
  static Experiment table(String name) {
    List<String> arguments = name.equals("methods") ? List.of("compare") : List.of("compare", name);
    return new Experiment(name, arguments, "");
  }

  static Experiment json(String name, String... arguments) {
    return new Experiment(name, List.of(arguments), "--json");
  }

  public Path file(Path folder) {
    return folder.resolve(name + ".json");
  }

  /** The command as it is typed in the repository's root. */
  public List<String> command(Path folder) {
    List<String> command = new ArrayList<>(arguments);
    if (!outputOption.isEmpty()) {
      command.add(outputOption);
      command.add(file(folder).toString());
    }
    return command;
  }
}
