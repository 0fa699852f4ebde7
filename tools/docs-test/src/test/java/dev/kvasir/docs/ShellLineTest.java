package dev.kvasir.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.ParsedCommand;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which calls are found in a line, and which of them are refused. */
class ShellLineTest {
  @Test
  void callsAreFoundAmongOtherCommands() {
    assertThat(
            ShellLine.kvasirCalls(
                "$ X=1 ./kvasir inspect 2> log | time bin/kvasir eval --kv \"a;b\" < in # kvasir"))
        .containsExactly(List.of("inspect"), List.of("eval", "--kv", "a;b"));
    assertThat(ShellLine.kvasirCalls("kvasir: building with Maven; cd kvasir-core")).isEmpty();
  }

  @Test
  void optionalPartsLoseTheirBrackets() {
    assertThat(ShellLine.kvasirCalls("kvasir tune [--trials 30] --on 'local[4]' ..."))
        .containsExactly(List.of("tune", "--trials", "30", "--on", "local[4]"));
    assertThat(ShellLine.kvasirCalls("kvasir eval --kv '...'"))
        .containsExactly(List.of("eval", "--kv", "..."));
  }

  @Test
  void placeholdersAreAccepted() {
    assertThat(errors("inspect --kv SPEC --context N --model MODEL.gguf")).isEmpty();
    assertThat(errors("COMMAND --help")).isEmpty();
    assertThat(errors("eval --kv fp16;SPEC,sinks=16")).isEmpty();
  }

  @Test
  void mistakesAreFound() {
    assertThat(errors("inspekt")).isNotEmpty();
    assertThat(errors("inspect --no-such-option")).anyMatch(e -> e.contains("--no-such-option"));
    assertThat(errors("inspect --context many")).anyMatch(e -> e.contains("many"));
    assertThat(errors("generate --kv kivi:2,grope=1 x")).anyMatch(e -> e.contains("grope"));
    assertThat(errors("bench no-such-bench")).isNotEmpty();
  }

  @Test
  void aSentenceMayNameAPartOfACommand() {
    ParsedCommand part = new ParsedCommand(List.of("calibrate", "--kv", "commvq:1"));
    assertThat(part.errorsOfPart()).isEmpty();
    assertThat(new ParsedCommand(List.of("inspect", "--context")).errorsOfPart()).isEmpty();
    assertThat(new ParsedCommand(List.of("inspect")).errors()).isEmpty();
    assertThat(new ParsedCommand(List.of("inspect", "--context")).errors()).isNotEmpty();
  }

  private static List<String> errors(String words) {
    return new ParsedCommand(List.of(words.split(" "))).errors();
  }
}
