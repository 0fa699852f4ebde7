package dev.kvasir.server.api;

import dev.kvasir.TokenLogprob;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.server.api.OutputBlock.Kind;
import java.util.ArrayList;
import java.util.List;

/**
 * Groups the events of a completion into blocks, of which one is open at a time. White space that
 * no text follows, as models write it between reasoning and a call, becomes no block.
 */
public final class OutputBlocks {
  private final Listener listener;
  private final List<OutputBlock> blocks = new ArrayList<>();
  private final StringBuilder blank = new StringBuilder();
  private final List<TokenLogprob> blankLogprobs = new ArrayList<>();
  private OutputBlock open; // null between blocks

  /** Receives the changes of blocks in order. */
  public interface Listener {
    void opened(OutputBlock block);

    /**
     * @param piece what was added to its content
     */
    void extended(OutputBlock block, String piece, List<TokenLogprob> logprobs);

    void closed(OutputBlock block);
  }

  public OutputBlocks(Listener listener) {
    this.listener = listener;
  }

  /** Returns all blocks so far; the last one may be open. */
  public List<OutputBlock> blocks() {
    return blocks;
  }

  public boolean hasCalls() {
    return blocks.stream().anyMatch(block -> block.kind() == Kind.CALL);
  }

  /** Returns the reasoning text of all blocks. */
  public String reasoning() {
    StringBuilder text = new StringBuilder();
    blocks.stream()
        .filter(block -> block.kind() == Kind.REASONING)
        .forEach(block -> text.append(block.content()));
    return text.toString();
  }

  public void accept(CompletionEvent event) {
    switch (event) {
      case CompletionEvent.Reasoning piece -> extend(Kind.REASONING, piece.text(), List.of());
      case CompletionEvent.Text piece -> text(piece.text(), piece.logprobs());
      case CompletionEvent.ToolCallStart call ->
          open(OutputBlock.call(blocks.size(), call.id(), call.name()));
      case CompletionEvent.ToolCallArguments piece -> add(piece.json(), List.of());
      case CompletionEvent.ToolCall _ -> close(true);
      case CompletionEvent.Done _ -> close();
      case CompletionEvent.PrefillProgress _, CompletionEvent.Failed _ -> {}
    }
  }

  private void text(String piece, List<TokenLogprob> logprobs) {
    boolean continues = open != null && open.kind() == Kind.TEXT;
    if (!continues && piece.isBlank()) {
      blank.append(piece);
      blankLogprobs.addAll(logprobs);
      return;
    }
    List<TokenLogprob> all = new ArrayList<>(blankLogprobs);
    all.addAll(logprobs);
    String text = blank + piece;
    clearBlank();
    extend(Kind.TEXT, text, all);
  }

  private void clearBlank() {
    blank.setLength(0);
    blankLogprobs.clear();
  }

  private void extend(Kind kind, String piece, List<TokenLogprob> logprobs) {
    if (open == null || open.kind() != kind) {
      open(OutputBlock.text(blocks.size(), kind));
    }
    add(piece, logprobs);
  }

  private void add(String piece, List<TokenLogprob> logprobs) {
    open.append(piece, logprobs);
    listener.extended(open, piece, logprobs);
  }

  private void open(OutputBlock block) {
    close();
    open = block;
    blocks.add(block);
    listener.opened(block);
  }

  /** Closes the open block, if any. */
  public void close() {
    close(open != null && open.kind() != Kind.CALL);
  }

  private void close(boolean isComplete) {
    clearBlank();
    if (open != null) {
      OutputBlock last = open;
      open = null;
      last.close(isComplete);
      listener.closed(last);
    }
  }
}
