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

  /** A piece of the model's reasoning. */
  record Reasoning(String text) implements ChatEvent {}

  /**
   * The name of a tool call whose arguments follow. A call that turns out to be malformed has no
   * {@link Call}; its source follows as {@link Text}.
   *
   * @param index position of the call in the completion
   * @param id id of the call
   */
  record CallStart(int index, String id, String name) implements ChatEvent {}

  /**
   * A piece of the arguments of the last call that started.
   *
   * @param json part of a JSON object
   */
  record CallArguments(int index, String json) implements ChatEvent {}

  /**
   * A complete tool call, after its start and all of its arguments.
   *
   * @param index position of the call in the completion
   */
  record Call(int index, ToolCall toolCall) implements ChatEvent {}

  /** The end, with everything that was streamed. */
  record Done(ChatResponse response) implements ChatEvent {}
}
