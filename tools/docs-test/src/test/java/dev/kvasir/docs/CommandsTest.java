package dev.kvasir.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.ParsedCommand;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Commands of the documentation and of the help have subcommands and options that exist. */
class CommandsTest {
  private static final Set<String> SHELLS = Set.of("", "sh", "bash", "shell", "console", "zsh");

  @Test
  void everyCommandOfThePagesParses() throws IOException {
    List<String> violations = new ArrayList<>();
    for (MarkdownPage page : Pages.all()) {
      page.blocks().stream()
          .filter(block -> SHELLS.contains(block.language()) && !block.isIgnored())
          .flatMap(block -> commandLines(block).stream())
          .forEach(line -> addErrors(page, line, ParsedCommand::errors, violations));
      page.codeSpans()
          .filter(span -> span.text().startsWith("./kvasir "))
          .forEach(span -> addErrors(page, span, ParsedCommand::errorsOfPart, violations));
    }
    assertThat(violations).isEmpty();
  }

  @Test
  void everyExampleOfTheHelpParses() {
    List<String> violations = new ArrayList<>();
    for (String example : ParsedCommand.examplesOfHelp()) {
      errors(example, ParsedCommand::errors)
          .forEach(error -> violations.add(example.strip() + ": " + error));
    }
    assertThat(violations).isEmpty();
  }

  private static void addErrors(
      MarkdownPage page,
      MarkdownPage.Part line,
      Function<ParsedCommand, List<String>> check,
      List<String> violations) {
    errors(line.text(), check).forEach(error -> violations.add(page.violation(line.line(), error)));
  }

  private static List<String> errors(String line, Function<ParsedCommand, List<String>> check) {
    return ShellLine.kvasirCalls(line).stream()
        .flatMap(words -> check.apply(new ParsedCommand(words)).stream())
        .toList();
  }

  /**
   * Returns the lines of a block, those that end with a backslash joined to the next. In a block
   * with prompts the other lines are output.
   */
  private static List<MarkdownPage.Part> commandLines(CodeBlock block) {
    boolean hasPrompts = block.lines().stream().anyMatch(CommandsTest::isPrompt);
    List<MarkdownPage.Part> lines = new ArrayList<>();
    StringBuilder joined = new StringBuilder();
    int first = block.line();
    for (int i = 0; i < block.lines().size(); i++) {
      String line = block.lines().get(i);
      boolean goesOn = line.endsWith("\\");
      joined.append(goesOn ? line.substring(0, line.length() - 1) : line);
      if (!goesOn) {
        if (!hasPrompts || isPrompt(joined.toString())) {
          lines.add(new MarkdownPage.Part(first, joined.toString()));
        }
        joined.setLength(0);
        first = block.line() + i + 1;
      }
    }
    return lines;
  }

  private static boolean isPrompt(String line) {
    return line.strip().startsWith("$ ");
  }
}
