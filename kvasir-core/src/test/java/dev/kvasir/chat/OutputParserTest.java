package dev.kvasir.chat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.chat.CompletionRequest.ParserOptions;
import dev.kvasir.chat.syntax.CallableFunctions;
import dev.kvasir.chat.syntax.MessageSyntax;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** The events of a text do not depend on how it is split into pieces. */
class OutputParserTest {
  private static final MessageSyntax HERMES =
      MessageSyntax.recognize(Optional.of("<tool_call>"), Optional.empty());
  private static final ParserOptions ALL =
      new ParserOptions(
          Optional.of(HERMES), new CallableFunctions(Map.of("f", "{}", "g", "{}"), true), false);

  /** Returns events by type, adjacent ones of one type joined. */
  private static List<String> events(
      String text, List<String> stops, ParserOptions parserOptions, long cuts) {
    List<String> events = new ArrayList<>();
    OutputParser parser = new OutputParser(0, stops, parserOptions, event -> add(events, event));
    Random random = new Random(cuts);
    for (int at = 0; at < text.length(); ) {
      int end = Math.min(text.length(), at + 1 + random.nextInt(6));
      parser.push(text.substring(at, end));
      at = end;
    }
    parser.finish();
    return events;
  }

  private static void add(List<String> events, CompletionEvent event) {
    if (event instanceof CompletionEvent.ToolCallStart
        || event instanceof CompletionEvent.ToolCallArguments) {
      return;
    }
    String line =
        switch (event) {
          case CompletionEvent.Text text -> "text:" + text.text();
          case CompletionEvent.Reasoning text -> "thought:" + text.text();
          case CompletionEvent.ToolCall call ->
              "call:%d %s %s".formatted(call.index(), call.name(), call.arguments());
          default -> throw new AssertionError(event);
        };
    String kind = line.substring(0, line.indexOf(':') + 1);
    boolean joins = !kind.equals("call:") && !events.isEmpty() && events.getLast().startsWith(kind);
    if (joins) {
      events.add(events.removeLast() + line.substring(kind.length()));
    } else {
      events.add(line);
    }
  }

  @Property(tries = 200)
  void piecesDoNotMatter(@ForAll long cuts) {
    String text =
        "<think>Let me <see>.</think>Well <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}"
            + "\n</tool_call>\n<tool_call>{\"name\": \"g\"}</tool_call> STOP and more";
    assertThat(events(text, List.of("STOP", "STEP"), ALL, cuts))
        .containsExactly(
            "thought:Let me <see>.", "text:Well ", "call:0 f {\"a\":1}", "call:1 g {}");
  }

  @Property(tries = 100)
  void aPartialTagIsText(@ForAll long cuts) {
    String text = "1 < 2, <thin> and </think, STO";
    assertThat(events(text, List.of("STOP"), ALL, cuts)).containsExactly("text:" + text);
  }

  @Test
  void aPromptMayStartTheReasoning() {
    ParserOptions reasoningStarted =
        new ParserOptions(Optional.of(HERMES), CallableFunctions.NONE, true);
    assertThat(events("Hm.</think>Yes.", List.of(), reasoningStarted, 1))
        .containsExactly("thought:Hm.", "text:Yes.");
  }

  @Test
  void aMalformedToolCallIsText() {
    assertThat(events("<tool_call>{\"name\": </tool_call>", List.of(), ALL, 2))
        .containsExactly("text:<tool_call>{\"name\": </tool_call>");
    assertThat(events("<tool_call>{\"name\": \"f\"}", List.of(), ALL, 3))
        .containsExactly("call:0 f {}");
  }

  @Test
  void withoutTagsTextIsText() {
    String text = "<think>a</think><tool_call>{}</tool_call>";
    assertThat(events(text, List.of(), ParserOptions.NONE, 4)).containsExactly("text:" + text);
  }
}
