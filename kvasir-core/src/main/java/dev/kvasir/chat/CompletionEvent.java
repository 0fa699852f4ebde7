package dev.kvasir.chat;

import dev.kvasir.ChatResponse.FinishReason;
import dev.kvasir.Generation;
import dev.kvasir.KvasirException;
import dev.kvasir.TokenLogprob;
import java.util.List;

/** An event of one choice of a completion, in order. */
public sealed interface CompletionEvent {
  int choice();

  /** How many prompt tokens have been prefilled. */
  record PrefillProgress(int choice, int done, int total) implements CompletionEvent {}

  /**
   * @param logprobs logprobs of the tokens since the last text; empty unless requested
   */
  record Text(int choice, String text, List<TokenLogprob> logprobs) implements CompletionEvent {}

  /** Text between the reasoning tags. */
  record Reasoning(int choice, String text) implements CompletionEvent {}

  /**
   * @param index position of the call in the choice
   * @param arguments a JSON object
   */
  record ToolCall(int choice, int index, String name, String arguments)
      implements CompletionEvent {}

  /**
   * @param prefixHit what of the prompt came from the prefix cache
   */
  record Done(int choice, FinishReason finishReason, PrefixHit prefixHit, Generation generation)
      implements CompletionEvent {}

  /** The last event of a completion that failed. */
  record Failed(int choice, KvasirException cause) implements CompletionEvent {}
}
