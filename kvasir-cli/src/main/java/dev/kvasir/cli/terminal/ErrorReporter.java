package dev.kvasir.cli.terminal;

import dev.kvasir.error.InvalidInputException;
import java.util.List;
import java.util.Locale;
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
      return "the option '%s' is unknown; %s%s"
          .formatted(
              first, help, isRoot ? "" : ", or put -- before a text that begins with a dash");
    }
    if (!command.getSubcommands().isEmpty()) {
      List<String> near = similarCommands(first, command);
      return "the command '%s' is unknown; %s"
          .formatted(
              first, near.isEmpty() ? help : "did you mean '%s'?".formatted(near.getFirst()));
    }
    return "'%s' is one argument too many; put a text of several words in quotes".formatted(first);
  }

  private static List<String> similarCommands(String word, CommandLine group) {
    String wanted = word.toLowerCase(Locale.ROOT);
    return group.getSubcommands().keySet().stream()
        .filter(name -> name.startsWith(wanted) || editDistance(name, wanted) <= 2)
        .toList();
  }

  /** Returns the Levenshtein distance. */
  private static int editDistance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
