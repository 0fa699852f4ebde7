package dev.kvasir;

import java.util.List;

/** An event of a streamed completion. The last one is {@link Done}. */
public sealed interface ChatEvent {
  /** How many prompt tokens have been prefilled. */
  record Prefill(int done, int total) implements ChatEvent {}

  /**
   * A piece of text that will not change.
   *
   * @param logprobs log probabilities of the tokens since the last piece; empty unless requested
   */
  record Text(String text, List<TokenLogprob> logprobs) implements ChatEvent {}

  /** A piece of the text between the reasoning tags. */
  record Reasoning(String text) implements ChatEvent {}

  /**
   * A complete tool call.
   *
   * @param index position of the call in the completion
   */
  record Call(int index, ToolCall toolCall) implements ChatEvent {}

  /** The end, with everything that was streamed. */
  record Done(ChatResponse response) implements ChatEvent {}
}
