package dev.kvasir.spring;

import dev.kvasir.server.ChatCompletion;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/** Converts results to Spring AI responses. */
final class SpringResponses {
  /** The metadata key for reasoning in Spring AI's own models. */
  static final String REASONING = "reasoningContent";

  private SpringResponses() {}

  /** Converts a whole answer. */
  static ChatResponse of(ChatCompletion.Result result) {
    List<AssistantMessage.ToolCall> calls =
        result.toolCalls().stream().map(SpringResponses::call).toList();
    return whole(result, message(result.text(), result.reasoning(), calls));
  }

  /** Returns the last response of a stream, with its finish reason and usage. */
  static ChatResponse end(ChatCompletion.Result result) {
    return whole(result, message("", result.reasoning(), List.of()));
  }

  private static ChatResponse whole(ChatCompletion.Result result, AssistantMessage message) {
    ChatGenerationMetadata end =
        ChatGenerationMetadata.builder()
            .finishReason(result.finishReason().toUpperCase(Locale.ROOT))
            .build();
    ChatResponseMetadata metadata =
        ChatResponseMetadata.builder()
            .id(result.id())
            .model(result.model())
            .usage(
                new DefaultUsage(
                    result.promptTokens(),
                    result.generatedTokens(),
                    result.promptTokens() + result.generatedTokens(),
                    null,
                    (long) result.cachedTokens(),
                    null))
            .build();
    return new ChatResponse(List.of(new Generation(message, end)), metadata);
  }

  static ChatResponse piece(ChatCompletion completion, String text, String reasoning) {
    return part(completion, message(text, reasoning, List.of()));
  }

  static ChatResponse call(
      ChatCompletion completion, ChatCompletion.ToolCall toolCall, String reasoning) {
    return part(completion, message("", reasoning, List.of(call(toolCall))));
  }

  private static ChatResponse part(ChatCompletion completion, AssistantMessage message) {
    ChatResponseMetadata metadata =
        ChatResponseMetadata.builder().id(completion.id()).model(completion.model()).build();
    return new ChatResponse(List.of(new Generation(message)), metadata);
  }

  private static AssistantMessage message(
      String text, String reasoning, List<AssistantMessage.ToolCall> calls) {
    return AssistantMessage.builder()
        .content(text)
        .properties(reasoning.isEmpty() ? Map.of() : Map.of(REASONING, reasoning))
        .toolCalls(calls)
        .build();
  }

  private static AssistantMessage.ToolCall call(ChatCompletion.ToolCall toolCall) {
    return new AssistantMessage.ToolCall(
        toolCall.id(), "function", toolCall.name(), toolCall.arguments());
  }
}
