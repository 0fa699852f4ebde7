package dev.kvasir.chat;

import dev.kvasir.ChatResponse.FinishReason;
import dev.kvasir.Generation;
import dev.kvasir.KvasirException;
import dev.kvasir.TokenLogprob;
import java.util.List;
import java.util.Optional;

/** An event of one choice of a completion, in order. */
public sealed interface CompletionEvent {
  int choice();

  /** How many prompt tokens have been prefilled. */
  record PrefillProgress(int choice, int done, int total) implements CompletionEvent {}

  /**
   * @param logprobs logprobs of the tokens since the last text; empty unless requested
   */
  record Text(int choice, String text, List<TokenLogprob> logprobs) implements CompletionEvent {}

  /** A piece of the model's reasoning. */
  record Reasoning(int choice, String text) implements CompletionEvent {}

  /**
   * The name of a call whose arguments follow. A call that turns out to be malformed has no {@link
   * ToolCall}; its source follows as {@link Text}.
   *
   * @param index position of the call in the choice
   * @param id unique among all calls
   */
  record ToolCallStart(int choice, int index, String id, String name) implements CompletionEvent {}

  /**
   * A piece of the arguments of the last call that started.
   *
   * @param json part of a JSON object
   */
  record ToolCallArguments(int choice, int index, String json) implements CompletionEvent {}

  /**
   * A complete call, after its start and all of its arguments.
   *
   * @param index position of the call in the choice
   * @param id the one of its start
   * @param arguments a JSON object: all pieces together
   */
  record ToolCall(int choice, int index, String id, String name, String arguments)
      implements CompletionEvent {}

  /**
   * @param stopSequence the stop sequence that ended the text; empty if none did
   * @param prefixHit what of the prompt came from the prefix cache
   */
  record Done(
      int choice,
      FinishReason finishReason,
      Optional<String> stopSequence,
      PrefixHit prefixHit,
      Generation generation)
      implements CompletionEvent {}

  /** The last event of a completion that failed. */
  record Failed(int choice, KvasirException cause) implements CompletionEvent {}
}
