package dev.kvasir.cli;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** A command line that the real commands parse and nobody runs. */
public final class ParsedCommand {
  /** Words that a reader replaces: MODEL, N, FILE.gguf, {@code <name>}, an ellipsis. */
  private static final Pattern PLACEHOLDER =
      Pattern.compile("[A-Z][A-Z0-9_]*(\\.[a-z]+)?|<.*>|.*(\\.\\.\\.|…).*");

  /** Their values of --kv are names of methods or lists of another form. */
  private static final Set<String> OTHER_SPECS = Set.of("calibrate", "tune", "bench");

  /** With all subcommands, which takes long to make. */
  private static final CommandLine ALL = commandLine();

  private final List<String> words;

  /**
   * @param words what follows the name of the program
   */
  public ParsedCommand(List<String> words) {
    this.words = words;
  }

  public static boolean isPlaceholder(String word) {
    return PLACEHOLDER.matcher(word).matches();
  }

  /** Returns the examples that the help of all commands shows. */
  public static List<String> examplesOfHelp() {
    return withSubcommands(ALL).flatMap(ParsedCommand::examples).toList();
  }

  /** An example may go on in the next line, behind a backslash. */
  private static Stream<String> examples(CommandLine command) {
    return String.join("\n", command.getCommandSpec().usageMessage().footer())
        .replace("\\\n", "")
        .lines()
        .filter(line -> line.strip().startsWith("kvasir "));
  }

  /** Returns what is wrong with a whole command, an empty list if nothing is. */
  public List<String> errors() {
    return parse(e -> !isOfPlaceholder(e));
  }

  /** Returns what is wrong with a command that may leave out options and values it needs. */
  public List<String> errorsOfPart() {
    return parse(e -> !isOfPlaceholder(e) && !(e instanceof MissingParameterException));
  }

  private List<String> parse(Predicate<Exception> counts) {
    if (!words.isEmpty() && isPlaceholder(words.getFirst())) {
      return List.of();
    }
    List<String> errors = new ArrayList<>();
    ParseResult parsed = ALL.parseArgs(words.toArray(String[]::new));
    for (ParseResult each = parsed; each != null; each = each.subcommand()) {
      each.errors().stream().filter(counts).map(ParsedCommand::text).forEach(errors::add);
      if (!OTHER_SPECS.contains(words.getFirst())) {
        errors.addAll(specErrors(each));
      }
    }
    return errors.stream().distinct().toList();
  }

  private static boolean isOfPlaceholder(Exception e) {
    return e instanceof ParameterException parameter
        && parameter.getValue() != null
        && isPlaceholder(parameter.getValue());
  }

  private static String text(Exception e) {
    return e.getMessage() == null ? e.toString() : e.getMessage().lines().findFirst().orElse("");
  }

  private static List<String> specErrors(ParseResult parsed) {
    if (!parsed.hasMatchedOption("--kv")) {
      return List.of();
    }
    return parsed.matchedOption("--kv").stringValues().stream()
        .flatMap(value -> Arrays.stream(value.split(";")))
        .flatMap(spec -> specError(spec).stream())
        .toList();
  }

  private static List<String> specError(String spec) {
    // The word auto is a choice among specs.
    if (spec.equals("auto") || isPlaceholder(spec) || isPlaceholder(spec.split("[:,]")[0])) {
      return List.of();
    }
    try {
      CacheSpec.parse(spec);
      return List.of();
    } catch (InvalidInputException e) {
      return List.of(text(e));
    }
  }

  private static CommandLine commandLine() {
    PrintStream nowhere =
        new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
    Streams streams =
        new Streams(InputStream.nullInputStream(), nowhere, nowhere, false, false, false);
    CommandLine all = Kvasir.commandLine(streams);
    withSubcommands(all).forEach(each -> each.getCommandSpec().parser().collectErrors(true));
    return all;
  }

  private static Stream<CommandLine> withSubcommands(CommandLine command) {
    return Stream.concat(
        Stream.of(command),
        command.getSubcommands().values().stream().flatMap(ParsedCommand::withSubcommands));
  }
}
