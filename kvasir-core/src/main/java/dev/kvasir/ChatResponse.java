package dev.kvasir;

import java.util.List;

/**
 * A finished completion.
 *
 * @param id unique among all completions
 * @param model the model name, including the cache spec unless it is the default
 * @param reasoning text between the reasoning tags; may be empty
 * @param logprobs log probabilities of the tokens of the text; empty unless requested
 */
public record ChatResponse(
    String id,
    String model,
    String text,
    String reasoning,
    List<ToolCall> toolCalls,
    List<TokenLogprob> logprobs,
    FinishReason finishReason,
    TokenUsage usage) {
  /** Why a completion ended. */
  public enum FinishReason {
    /** The model ended its text, or a stop sequence was generated. */
    STOP,
    /** The maximum tokens, the context or the cache budget was reached. */
    LENGTH,
    /** The model calls tools. */
    TOOL_CALLS
  }

  /**
   * The tokens of a completion.
   *
   * @param promptTokens tokens of the rendered conversation
   * @param cachedTokens the part of the prompt that came from the prefix cache
   * @param drafts what speculation contributed
   */
  public record TokenUsage(
      int promptTokens, int cachedTokens, int generatedTokens, Generation.Drafts drafts) {
    public int totalTokens() {
      return promptTokens + generatedTokens;
    }
  }

  public ChatResponse {
    toolCalls = List.copyOf(toolCalls);
    logprobs = List.copyOf(logprobs);
  }

  /** Returns the response as a message, for a conversation that continues. */
  public ChatMessage message() {
    ChatMessage message = ChatMessage.assistant(text, toolCalls);
    return reasoning.isEmpty() ? message : message.withReasoning(reasoning);
  }
}
