package dev.kvasir.chat;

import dev.kvasir.TokenLogprob;
import dev.kvasir.chat.CompletionRequest.ParserOptions;
import dev.kvasir.chat.syntax.MessageListener;
import dev.kvasir.chat.syntax.MessageParser;
import dev.kvasir.text.StopSequences;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Parses the text of a choice as it streams: cuts it before a stop sequence, and splits off
 * reasoning and tool calls.
 */
final class OutputParser implements MessageListener {
  private final int choice;
  private final Consumer<CompletionEvent> out;
  private final StopSequences stops;
  private final Optional<MessageParser> message;
  private final boolean isParallel;
  private final List<TokenLogprob> pendingLogprobs = new ArrayList<>();

  OutputParser(
      int choice, List<String> stops, ParserOptions options, Consumer<CompletionEvent> out) {
    this.choice = choice;
    this.out = out;
    this.stops = new StopSequences(stops);
    this.isParallel = options.functions().isParallel();
    this.message =
        options
            .syntax()
            .map(
                syntax ->
                    MessageParser.of(
                        syntax, options.functions(), options.startsInReasoning(), this));
  }

  void push(String piece) {
    parse(stops.push(piece));
  }

  private void parse(String piece) {
    if (!piece.isEmpty()) {
      message.ifPresentOrElse(parser -> parser.push(piece), () -> text(piece));
    }
  }

  @Override
  public void text(String piece) {
    out.accept(new CompletionEvent.Text(choice, piece, List.copyOf(pendingLogprobs)));
    pendingLogprobs.clear();
  }

  @Override
  public void reasoning(String piece) {
    out.accept(new CompletionEvent.Reasoning(choice, piece));
  }

  @Override
  public void callStarted(int index, String id, String name) {
    out.accept(new CompletionEvent.ToolCallStart(choice, index, id, name));
  }

  @Override
  public void callArguments(int index, String piece) {
    out.accept(new CompletionEvent.ToolCallArguments(choice, index, piece));
  }

  @Override
  public void callCompleted(int index, String id, String name, String arguments) {
    out.accept(new CompletionEvent.ToolCall(choice, index, id, name, arguments));
  }

  /** Adds a token whose text follows, possibly later. */
  void logprob(TokenLogprob token) {
    pendingLogprobs.add(token);
  }

  /** Returns whether a stop sequence or the only call was generated. */
  boolean hasStopped() {
    return stops.found() || !isParallel && hasToolCalls();
  }

  /** Returns the stop sequence that was generated. */
  Optional<String> stopSequence() {
    return stops.match();
  }

  boolean hasToolCalls() {
    return message.filter(parser -> parser.calls() > 0).isPresent();
  }

  /** Emits the buffered text at the end of the stream. */
  void finish() {
    parse(stops.finish());
    message.ifPresent(MessageParser::finish);
  }
}
