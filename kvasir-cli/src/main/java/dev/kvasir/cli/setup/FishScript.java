package dev.kvasir.cli.setup;

import dev.kvasir.cli.arguments.ModelLocation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** A completion script for fish, from the commands and options that picocli knows. */
final class FishScript {
  private static final int LONGEST_DESCRIPTION = 70;

  private final String program;
  private final CommandLine root;
  private final List<String> lines = new ArrayList<>();

  FishScript(CommandLine root) {
    this.program = root.getCommandName();
    this.root = root;
  }

  String text() {
    lines.clear();
    lines.add("# Completions of %s for fish.".formatted(program));
    lines.add("complete -c %s -f".formatted(program));
    addCommands(root, "__fish_use_subcommand");
    addOptions(root.getCommandSpec(), "__fish_use_subcommand");
    root.getSubcommands().forEach((name, command) -> addCommand(command, seen(name)));
    return String.join("\n", lines) + "\n";
  }

  /**
   * Adds the options of a command and, if it has commands of its own, those too.
   *
   * @param condition when the shell offers them
   */
  private void addCommand(CommandLine command, String condition) {
    if (command.getSubcommands().isEmpty()) {
      addOptions(command.getCommandSpec(), condition);
      if (hasFileArgument(command.getCommandSpec())) {
        lines.add("complete -c %s -n %s -F".formatted(program, quoted(condition)));
      }
      return;
    }
    String names = String.join(" ", command.getSubcommands().keySet());
    addCommands(command, "%s; and not %s".formatted(condition, seen(names)));
    addOptions(command.getCommandSpec(), condition);
    command
        .getSubcommands()
        .forEach((name, below) -> addCommand(below, "%s; and %s".formatted(condition, seen(name))));
  }

  private static String seen(String names) {
    return "__fish_seen_subcommand_from " + names;
  }

  private void addCommands(CommandLine group, String condition) {
    group
        .getSubcommands()
        .forEach(
            (name, command) ->
                lines.add(
                    "complete -c %s -n %s -a %s -d %s"
                        .formatted(
                            program,
                            quoted(condition),
                            name,
                            quoted(firstSentence(description(command.getCommandSpec()))))));
  }

  private void addOptions(CommandSpec command, String condition) {
    for (OptionSpec option : command.options()) {
      if (!option.hidden()) {
        lines.add(
            "complete -c %s -n %s%s%s -d %s"
                .formatted(
                    program,
                    quoted(condition),
                    names(option),
                    values(option),
                    quoted(firstSentence(String.join(" ", option.description())))));
      }
    }
  }

  private static String names(OptionSpec option) {
    return Arrays.stream(option.names())
        .map(
            name -> name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1))
        .collect(Collectors.joining());
  }

  /** Returns whether a value follows, and which ones the shell offers. */
  private static String values(OptionSpec option) {
    if (option.arity().max() == 0) {
      return "";
    }
    if (option.completionCandidates() != null) {
      List<String> words = new ArrayList<>();
      option.completionCandidates().forEach(words::add);
      return " -x -a " + quoted(String.join(" ", words));
    }
    boolean mayBeFile = option.type() == Path.class || option.type() == ModelLocation.class;
    return mayBeFile ? " -r -F" : " -x";
  }

  private static boolean hasFileArgument(CommandSpec command) {
    return command.positionalParameters().stream().anyMatch(each -> each.type() == Path.class);
  }

  private static String description(CommandSpec command) {
    return String.join(" ", command.usageMessage().description());
  }

  /** Returns the first sentence, shortened to fit a line. */
  private static String firstSentence(String text) {
    String line = text.replaceAll("\\$\\{[^}]*}", "").replaceAll("\\s+", " ").strip();
    int end = line.indexOf(". ");
    String sentence = end < 0 ? line : line.substring(0, end);
    String plain = sentence.replaceAll("[.:;,]+$", "");
    return plain.length() <= LONGEST_DESCRIPTION
        ? plain
        : plain.substring(0, LONGEST_DESCRIPTION - 1).strip() + "…";
  }

  /** Returns a word in quotes, in which fish knows two escapes. */
  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
