package dev.kvasir.lab.claim;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.report.StandardTable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A command that tests claims and the file with its measurements.
 *
 * @param name name of the file in the results folder
 * @param preparations commands whose output the command needs
 * @param arguments arguments of the command without the output file
 * @param outputOption option for the output file; empty if the command always writes there
 */
public record Experiment(
    String name, List<List<String>> preparations, List<String> arguments, String outputOption) {
  /** Tokens that the smallest context of the models in use can hold. */
  private static final int OTHER_CONTEXT = 1900;

  /** Returns the experiment behind a table of the results page. */
  static Experiment table(String name) {
    List<String> arguments = name.equals("methods") ? List.of("compare") : List.of("compare", name);
    return new Experiment(name, List.of(), arguments, "");
  }

  /**
   * Returns the experiment of a command that writes JSON.
   *
   * @param command arguments without spaces, separated by one
   */
  static Experiment json(String name, String command) {
    return new Experiment(name, List.of(), words(command), "--json");
  }

  /** Returns an experiment that reads a text with several caches. */
  static Experiment eval(String name, String options, String... specs) {
    List<String> arguments =
        Stream.of(words("eval " + options), List.of("--kv", String.join(";", specs)))
            .flatMap(List::stream)
            .toList();
    return new Experiment(name, List.of(), arguments, "--json");
  }

  /** Returns a copy that runs another command before. */
  Experiment after(String preparation) {
    List<List<String>> all =
        Stream.concat(preparations.stream(), Stream.of(words(preparation))).toList();
    return new Experiment(name, all, arguments, outputOption);
  }

  private static List<String> words(String command) {
    return List.of(command.split(" "));
  }

  public Path file(Path folder) {
    return folder.resolve(name + ".json");
  }

  /**
   * Returns the commands as typed in the root of the repository, the last of which measures.
   *
   * @param model file of another model than the bundled one
   */
  public List<List<String>> commands(Path folder, Optional<Path> model) {
    if (isTable() && model.isPresent()) {
      return ofTable(StandardTable.named(name)).commands(folder, model);
    }
    List<List<String>> commands = new ArrayList<>();
    preparations.forEach(preparation -> commands.add(withModel(preparation, model)));
    List<String> last = withModel(arguments, model);
    if (!isTable()) {
      last.add(outputOption);
      last.add(file(folder).toString());
    }
    commands.add(last);
    return commands;
  }

  boolean isTable() {
    return outputOption.isEmpty();
  }

  /** Returns the table's rows on a text that any model can read, without questions. */
  private static Experiment ofTable(StandardTable table) {
    String tasks =
        table.tasks().stream()
            .filter(task -> task == Task.PPL || task == Task.KLD || task == Task.PROSE)
            .map(Task::label)
            .collect(Collectors.joining(","));
    String options = "--tasks %s --context %d --seed 1".formatted(tasks, OTHER_CONTEXT);
    if (table.prefill() == Prefill.EXACT) {
      options += " --prompt %d --prefill exact".formatted(OTHER_CONTEXT / 2);
    }
    return eval(table.name(), options, table.specs().toArray(String[]::new));
  }

  private static List<String> withModel(List<String> command, Optional<Path> model) {
    List<String> all = new ArrayList<>(command);
    model.ifPresent(file -> all.addAll(List.of("--model", file.toString())));
    return all;
  }
}
