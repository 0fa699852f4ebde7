package dev.kvasir.lab.claim;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.report.StandardTable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
 * @param onlyBed the only bed that the command measures; empty if it takes any model
 */
public record Experiment(
    String name,
    List<List<String>> preparations,
    List<String> arguments,
    String outputOption,
    Optional<TestBed> onlyBed) {
  /** Tokens that the smallest context of the models in use can hold. */
  private static final int OTHER_CONTEXT = 1900;

  /** Commands that make the profile of another model than the bundled one, by experiment. */
  private static final Map<String, List<String>> CALIBRATIONS =
      Map.of(
          "methods",
          List.of("tune", "calibrate --kv commvq:1", "calibrate --kv commvq:2"),
          "baselines",
          List.of("calibrate --kv oscar", "calibrate --kv vqllm"),
          "mixkvq",
          List.of("tune"),
          "mixkvq-paper",
          List.of("tune"),
          "pmkvq",
          List.of("calibrate --kv pmkvq:2 --keys token"),
          "pmkvq-widths",
          List.of("calibrate --kv pmkvq:2"),
          "commvq",
          List.of("calibrate --kv commvq:1", "calibrate --kv commvq:2"));

  /** Returns the experiment behind a table of the results page. */
  static Experiment table(String name) {
    List<String> arguments = name.equals("methods") ? List.of("compare") : List.of("compare", name);
    return new Experiment(name, List.of(), arguments, "", Optional.empty());
  }

  /**
   * Returns the experiment of a command that writes JSON.
   *
   * @param command arguments without spaces, separated by one
   */
  static Experiment json(String name, String command) {
    return new Experiment(name, List.of(), words(command), "--json", Optional.empty());
  }

  /** Returns an experiment that reads a text with several caches. */
  static Experiment eval(String name, String options, String... specs) {
    List<String> arguments =
        Stream.of(words("eval " + options), List.of("--kv", String.join(";", specs)))
            .flatMap(List::stream)
            .toList();
    return new Experiment(name, List.of(), arguments, "--json", Optional.empty());
  }

  /** Returns a copy that runs another command before. */
  Experiment after(String preparation) {
    List<List<String>> all =
        Stream.concat(preparations.stream(), Stream.of(words(preparation))).toList();
    return new Experiment(name, all, arguments, outputOption, onlyBed);
  }

  /** Returns a copy whose command brings a model of its own. */
  Experiment on(TestBed bed) {
    return new Experiment(name, preparations, arguments, outputOption, Optional.of(bed));
  }

  boolean measures(TestBed bed) {
    return onlyBed.isEmpty() || onlyBed.get() == bed;
  }

  /** Returns whether the command needs a GPU. */
  public boolean needsCard() {
    return onlyBed.isPresent() && onlyBed.get() == TestBed.CARD;
  }

  private static List<String> words(String command) {
    return List.of(command.split(" "));
  }

  /**
   * Returns the file with the figures of a model.
   *
   * @param folder the figures of the bundled model
   */
  Path file(Path folder, TestBed bed) {
    return file(bed.folder(folder));
  }

  /** Returns the file with the figures in a model's own folder. */
  Path file(Path own) {
    return own.resolve(name + ".json");
  }

  /**
   * Returns the commands as typed in the root of the repository, the last of which measures.
   *
   * @param folder folder for the figures; those of another bed have a folder within
   * @param model file of another model than the bundled one
   */
  public List<List<String>> commands(Path folder, Optional<Path> model) {
    if (onlyBed.isPresent()) {
      return List.of(with(arguments, outputOption, file(folder, onlyBed.get()).toString()));
    }
    if (isTable() && model.isEmpty()) {
      return List.of(arguments);
    }
    Experiment last = isTable() ? ofTable(StandardTable.named(name)) : this;
    List<List<String>> commands = new ArrayList<>();
    if (model.isPresent()) {
      calibrations().forEach(calibration -> commands.add(withModel(calibration, model)));
    }
    preparations.forEach(preparation -> commands.add(withModel(preparation, model)));
    commands.add(
        with(withModel(last.arguments, model), last.outputOption, last.file(folder).toString()));
    return commands;
  }

  boolean isTable() {
    return outputOption.isEmpty();
  }

  private List<List<String>> calibrations() {
    return CALIBRATIONS.getOrDefault(name, List.of()).stream().map(Experiment::words).toList();
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
    return model.map(file -> with(command, "--model", file.toString())).orElse(command);
  }

  private static List<String> with(List<String> command, String option, String value) {
    return Stream.concat(command.stream(), Stream.of(option, value)).toList();
  }
}
