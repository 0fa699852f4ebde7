package dev.kvasir.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Finds the calls of the kvasir command in a line for a shell. */
final class ShellLine {
  private static final Pattern PROGRAM = Pattern.compile("(\\S*[/\\\\])?kvasir(\\.cmd|\\.bat)?");

  /** A prompt, variables and commands that run another command. */
  private static final Pattern BEFORE_PROGRAM =
      Pattern.compile("\\$|[A-Z_]+=.*|time|nice|exec|sudo");

  private final List<List<String>> commands = new ArrayList<>();
  private List<String> words = new ArrayList<>();
  private final StringBuilder word = new StringBuilder();
  private boolean hasWord;
  private boolean isQuoted;
  private boolean isRedirected;

  private ShellLine() {}

  /** Returns the words behind the program, for each call in the line. */
  static List<List<String>> kvasirCalls(String line) {
    ShellLine parsed = new ShellLine();
    parsed.read(line);
    return parsed.commands.stream().flatMap(each -> arguments(each).stream()).toList();
  }

  private static List<List<String>> arguments(List<String> command) {
    int program = 0;
    while (program < command.size() && BEFORE_PROGRAM.matcher(command.get(program)).matches()) {
      program++;
    }
    if (program == command.size() || !PROGRAM.matcher(command.get(program)).matches()) {
      return List.of();
    }
    return List.of(
        command.subList(program + 1, command.size()).stream()
            .map(ShellLine::withoutBrackets)
            .toList());
  }

  /** What may be left out is written as {@code [--option VALUE]}. */
  private static String withoutBrackets(String word) {
    String opened = word.startsWith("[") ? word.substring(1) : word;
    boolean closes = opened.endsWith("]") && !opened.contains("[");
    return closes ? opened.substring(0, opened.length() - 1) : opened;
  }

  private void read(String line) {
    char quote = 0;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (quote != 0) {
        if (c == quote) {
          quote = 0;
        } else {
          word.append(c);
        }
      } else if (c == '"' || c == '\'') {
        quote = c;
        hasWord = true;
        isQuoted = true;
      } else if (c == '#' && word.isEmpty() && !hasWord) {
        break;
      } else {
        readUnquoted(c);
      }
    }
    endCommand();
  }

  private void readUnquoted(char c) {
    if (Character.isWhitespace(c)) {
      endWord();
    } else if (c == '|' || c == ';' || c == '&') {
      endCommand();
    } else if (c == '>' || c == '<') {
      // The number of a stream, as in 2> file.
      if (word.toString().matches("\\d*")) {
        word.setLength(0);
        hasWord = false;
      }
      endWord();
      isRedirected = true;
    } else {
      word.append(c);
      hasWord = true;
    }
  }

  private void endWord() {
    if (hasWord && !isRedirected && !isOmission()) {
      words.add(word.toString());
    }
    isRedirected &= !hasWord;
    word.setLength(0);
    hasWord = false;
    isQuoted = false;
  }

  /** Further words that are left out; in quotes it is a value that is. */
  private boolean isOmission() {
    return !isQuoted && (List.of("...", "…").contains(word.toString()));
  }

  private void endCommand() {
    endWord();
    isRedirected = false;
    commands.add(words);
    words = new ArrayList<>();
  }
}
