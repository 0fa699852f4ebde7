package dev.kvasir.server.answer;

import dev.kvasir.Generation;
import dev.kvasir.sampling.TokenLogprob;
import java.util.List;

/** What happens to one choice of an answer, in order. */
public sealed interface CompletionEvent {
  int choice();

  /** How much of the prompt has been read. */
  record PrefillProgress(int choice, int done, int total) implements CompletionEvent {}

  /**
   * @param likelihoods of tokens that have come since the last text; empty unless asked for
   */
  record Text(int choice, String text, List<TokenLogprob> logprobs) implements CompletionEvent {}

  /** Text between the tags of thinking. */
  record Reasoning(int choice, String text) implements CompletionEvent {}

  /**
   * @param index of the call within the choice
   * @param arguments a JSON object
   */
  record ToolCall(int choice, int index, String name, String arguments)
      implements CompletionEvent {}

  /**
   * @param reason in the interface's words: stop, length or tool_calls
   * @param known what of the prompt was not read again
   */
  record Done(int choice, String finishReason, PrefixHit prefixHit, Generation generation)
      implements CompletionEvent {}

  /** Nothing comes after it. */
  record Failed(int choice, RuntimeException cause) implements CompletionEvent {}
}
