package dev.kvasir.server.answer;

import dev.kvasir.Generation;
import dev.kvasir.sampling.TokenLikelihood;
import java.util.List;

/** What happens to one choice of an answer, in order. */
public sealed interface AnswerEvent {
  int choice();

  /** How much of the prompt has been read. */
  record Reading(int choice, int done, int inAll) implements AnswerEvent {}

  /**
   * @param likelihoods of tokens that have come since the last text; empty unless asked for
   */
  record Text(int choice, String text, List<TokenLikelihood> likelihoods) implements AnswerEvent {}

  /** Text between the tags of thinking. */
  record Reasoning(int choice, String text) implements AnswerEvent {}

  /**
   * @param index of the call within the choice
   * @param arguments a JSON object
   */
  record ToolCall(int choice, int index, String name, String arguments) implements AnswerEvent {}

  /**
   * @param reason in the interface's words: stop, length or tool_calls
   * @param known what of the prompt was not read again
   */
  record Done(int choice, String reason, Known known, Generation generation)
      implements AnswerEvent {}

  /** Nothing comes after it. */
  record Failed(int choice, RuntimeException why) implements AnswerEvent {}
}
