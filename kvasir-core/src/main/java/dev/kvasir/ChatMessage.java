package dev.kvasir;

import java.util.List;
import java.util.Optional;

/**
 * A message of a conversation.
 *
 * @param text its content; may be empty
 * @param toolCalls calls that the assistant made in this message
 * @param reasoning what the assistant thought before it answered
 * @param name name of the user, or of the tool whose result this is
 * @param toolCallId the call whose result this is
 */
public record ChatMessage(
    Role role,
    String text,
    List<ToolCall> toolCalls,
    Optional<String> reasoning,
    Optional<String> name,
    Optional<String> toolCallId) {
  /** The author of a message. */
  public enum Role {
    SYSTEM,
    USER,
    ASSISTANT,
    TOOL
  }

  public ChatMessage {
    toolCalls = List.copyOf(toolCalls);
  }

  private ChatMessage(Role role, String text) {
    this(role, text, List.of(), Optional.empty(), Optional.empty(), Optional.empty());
  }

  public static ChatMessage system(String text) {
    return new ChatMessage(Role.SYSTEM, text);
  }

  public static ChatMessage user(String text) {
    return new ChatMessage(Role.USER, text);
  }

  public static ChatMessage assistant(String text) {
    return new ChatMessage(Role.ASSISTANT, text);
  }

  /** Returns a message of the assistant that calls tools. */
  public static ChatMessage assistant(String text, List<ToolCall> toolCalls) {
    return assistant(text).withToolCalls(toolCalls);
  }

  /** Returns the result of a tool call. */
  public static ChatMessage toolResult(ToolCall call, String result) {
    return new ChatMessage(
        Role.TOOL,
        result,
        List.of(),
        Optional.empty(),
        Optional.ofNullable(call.name()),
        Optional.ofNullable(call.id()));
  }

  public ChatMessage withToolCalls(List<ToolCall> value) {
    return new ChatMessage(role, text, value, reasoning, name, toolCallId);
  }

  public ChatMessage withReasoning(String value) {
    return new ChatMessage(role, text, toolCalls, Optional.of(value), name, toolCallId);
  }

  public ChatMessage withName(String value) {
    return new ChatMessage(role, text, toolCalls, reasoning, Optional.of(value), toolCallId);
  }
}
