package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.TokenLogprob;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.server.api.OutputBlock;
import dev.kvasir.server.api.OutputBlocks;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutputBlocksTest {
  private final List<String> seen = new ArrayList<>();
  private final OutputBlocks blocks =
      new OutputBlocks(
          new OutputBlocks.Listener() {
            @Override
            public void opened(OutputBlock block) {
              seen.add("+" + block.kind());
            }

            @Override
            public void extended(OutputBlock block, String piece, List<TokenLogprob> logprobs) {
              seen.add(piece);
            }

            @Override
            public void closed(OutputBlock block) {
              seen.add("-" + block.content());
            }
          });

  private void text(String piece) {
    blocks.accept(new CompletionEvent.Text(0, piece, List.of()));
  }

  @Test
  void reasoningTextAndCallsAreBlocks() {
    blocks.accept(new CompletionEvent.Reasoning(0, "hm"));
    blocks.accept(new CompletionEvent.Reasoning(0, "m"));
    text("\n\n");
    text("So ");
    text(" ");
    text("be it");
    blocks.close();
    assertThat(seen)
        .containsExactly(
            "+REASONING", "hm", "m", "-hmm", "+TEXT", "\n\nSo ", " ", "be it", "-\n\nSo  be it");
    assertThat(blocks.reasoning()).isEqualTo("hmm");
    assertThat(blocks.hasCalls()).isFalse();
  }

  @Test
  void whiteSpaceAloneIsNoBlock() {
    blocks.accept(new CompletionEvent.Reasoning(0, "hm"));
    text("\n\n");
    blocks.close();
    text(" \n");
    blocks.close();
    assertThat(blocks.blocks()).hasSize(1);
  }

  @Test
  void aCallWithoutItsEndIsIncomplete() {
    blocks.accept(new CompletionEvent.ToolCallStart(0, 0, "call_1", "f"));
    blocks.accept(new CompletionEvent.ToolCallArguments(0, 0, "{}"));
    blocks.accept(new CompletionEvent.ToolCall(0, 0, "call_1", "f", "{}"));
    text("\n");
    blocks.accept(new CompletionEvent.ToolCallStart(0, 1, "call_2", "g"));
    blocks.accept(new CompletionEvent.ToolCallArguments(0, 1, "{"));
    text("source");
    blocks.close();
    assertThat(seen)
        .containsExactly("+CALL", "{}", "-{}", "+CALL", "{", "-{", "+TEXT", "source", "-source");
    assertThat(blocks.blocks().stream().map(OutputBlock::isComplete))
        .containsExactly(true, false, true);
  }
}
