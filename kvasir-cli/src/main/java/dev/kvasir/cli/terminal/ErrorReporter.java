package dev.kvasir.cli.terminal;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.Spelling;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Prints an error as one sentence on standard error and returns the exit code. */
public final class ErrorReporter {
  static final int UNEXPECTED = 1;
  public static final int BAD_INPUT = 2;

  private final Streams streams;

  public ErrorReporter(Streams streams) {
    this.streams = streams;
  }

  /** Reports a command line that cannot be parsed. */
  public int reportInvalidArguments(ParameterException e, boolean verbose) {
    print(sentence(e), e, verbose);
    return BAD_INPUT;
  }

  /** Reports a command that failed. */
  public int reportFailure(Throwable e, boolean verbose) {
    boolean badInput = e instanceof InvalidInputException;
    print(badInput ? e.getMessage() : unexpected(e, verbose), e, verbose);
    return badInput ? BAD_INPUT : UNEXPECTED;
  }

  private void print(String sentence, Throwable e, boolean verbose) {
    // Escape codes from a file must not reach the terminal.
    String printable = sentence.strip().replaceAll("\\R", " ").replaceAll("\\p{Cntrl}", "?");
    streams
        .err()
        .println(streams.errHasColours() ? red("kvasir: ") + printable : "kvasir: " + printable);
    if (verbose) {
      e.printStackTrace(streams.err());
    }
    streams.err().flush();
  }

  private static String red(String text) {
    return "\u001b[31m" + text + "\u001b[0m";
  }

  private static String unexpected(Throwable e, boolean verbose) {
    return "unexpected %s%s"
        .formatted(e, verbose ? "" : "; run it again with --verbose for the details");
  }

  private static String sentence(ParameterException e) {
    String help = "see '%s --help'".formatted(e.getCommandLine().getCommandSpec().qualifiedName());
    if (e instanceof UnmatchedArgumentException unmatched) {
      return unmatched(unmatched, help);
    }
    if (e.getArgSpec() instanceof OptionSpec option && e.getValue() != null && isNumber(option)) {
      return "%s is '%s'; expected %s"
          .formatted(option.longestName(), e.getValue(), expectedNumber(option));
    }
    String message = e.getMessage().replace("option option", "option");
    return Character.toLowerCase(message.charAt(0)) + message.substring(1) + "; " + help;
  }

  private static boolean isNumber(OptionSpec option) {
    return option.type().isPrimitive() || Number.class.isAssignableFrom(option.type());
  }

  private static String expectedNumber(OptionSpec option) {
    Class<?> type = option.type();
    return type == double.class || type == Double.class ? "a number" : "a whole number";
  }

  private static String unmatched(UnmatchedArgumentException e, String help) {
    String first = e.getUnmatched().getFirst();
    CommandLine command = e.getCommandLine();
    boolean isRoot = command.getParent() == null;
    if (e.isUnknownOption()) {
      String word = first.split("=", 2)[0];
      String near = Spelling.hint(word, command.getCommandSpec().optionsMap().keySet());
      String dash = isRoot ? "" : ", or put -- before a text that begins with a dash";
      return "the option '%s' is unknown%s"
          .formatted(word, near.isEmpty() ? "; " + help + dash : near);
    }
    if (!command.getSubcommands().isEmpty()) {
      return "the command '%s' is unknown; %s"
          .formatted(
              first,
              similarCommand(first, command).map("did you mean '%s'?"::formatted).orElse(help));
    }
    return "'%s' is one argument too many; put a text of several words in quotes".formatted(first);
  }

  private static Optional<String> similarCommand(String word, CommandLine group) {
    String wanted = word.toLowerCase(Locale.ROOT);
    Set<String> names = group.getSubcommands().keySet();
    return names.stream()
        .filter(name -> name.startsWith(wanted))
        .findFirst()
        .or(() -> Spelling.nearest(wanted, names));
  }
}
