package dev.kvasir.server.answer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.server.answer.CompletionRequest.ParserOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** However a text is cut into pieces, what is told of it is the same. */
class OutputParserTest {
  private static final ParserOptions ALL =
      new ParserOptions(true, false, Optional.of(ToolSyntax.TAGS));

  /** Events by kind, neighbours of one kind joined. */
  private static List<String> told(
      String text, List<String> stops, ParserOptions parserOptions, long cuts) {
    List<String> told = new ArrayList<>();
    OutputParser answer = new OutputParser(0, stops, parserOptions, event -> add(told, event));
    Random random = new Random(cuts);
    for (int at = 0; at < text.length(); ) {
      int end = Math.min(text.length(), at + 1 + random.nextInt(6));
      answer.push(text.substring(at, end));
      at = end;
    }
    answer.finish();
    return told;
  }

  private static void add(List<String> told, CompletionEvent event) {
    String said =
        switch (event) {
          case CompletionEvent.Text text -> "text:" + text.text();
          case CompletionEvent.Reasoning text -> "thought:" + text.text();
          case CompletionEvent.ToolCall call ->
              "call:%d %s %s".formatted(call.index(), call.name(), call.arguments());
          default -> throw new AssertionError(event);
        };
    String kind = said.substring(0, said.indexOf(':') + 1);
    boolean joins = !kind.equals("call:") && !told.isEmpty() && told.getLast().startsWith(kind);
    if (joins) {
      told.add(told.removeLast() + said.substring(kind.length()));
    } else {
      told.add(said);
    }
  }

  @Property(tries = 200)
  void piecesDoNotMatter(@ForAll long cuts) {
    String text =
        "<think>Let me <see>.</think>Well <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}"
            + "\n</tool_call>\n<tool_call>{\"name\": \"g\"}</tool_call> STOP and more";
    assertThat(told(text, List.of("STOP", "STEP"), ALL, cuts))
        .containsExactly(
            "thought:Let me <see>.", "text:Well ", "call:0 f {\"a\":1}", "call:1 g {}");
  }

  @Property(tries = 100)
  void whatOnlyLooksLikeATagIsText(@ForAll long cuts) {
    String text = "1 < 2, <thin> and </think, STO";
    assertThat(told(text, List.of("STOP"), ALL, cuts)).containsExactly("text:" + text);
  }

  @Test
  void aPromptMayBeginTheThinking() {
    ParserOptions begun = new ParserOptions(true, true, Optional.empty());
    assertThat(told("Hm.</think>Yes.", List.of(), begun, 1))
        .containsExactly("thought:Hm.", "text:Yes.");
  }

  @Test
  void aCallThatCannotBeReadIsText() {
    assertThat(told("<tool_call>{\"name\": </tool_call>", List.of(), ALL, 2))
        .containsExactly("text:{\"name\": ");
    assertThat(told("<tool_call>{\"name\": \"f\"}", List.of(), ALL, 3))
        .containsExactly("call:0 f {}");
  }

  @Test
  void withoutTagsTextIsText() {
    String text = "<think>a</think><tool_call>{}</tool_call>";
    assertThat(told(text, List.of(), ParserOptions.NONE, 4)).containsExactly("text:" + text);
  }
}
