package dev.kvasir.spring;

import dev.kvasir.ChatStream;
import dev.kvasir.ToolCall;
import java.util.List;
import java.util.Map;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/** Translates responses of Kvasir to those of Spring AI. */
final class SpringResponses {
  /** The metadata key for reasoning in Spring AI's own models. */
  static final String REASONING = "reasoningContent";

  private SpringResponses() {}

  /** Translates a whole answer. */
  static ChatResponse of(dev.kvasir.ChatResponse result) {
    List<AssistantMessage.ToolCall> calls =
        result.toolCalls().stream().map(SpringResponses::call).toList();
    return whole(result, message(result.text(), result.reasoning(), calls));
  }

  /** Returns the last response of a stream, with its finish reason and usage. */
  static ChatResponse end(dev.kvasir.ChatResponse result) {
    return whole(result, message("", result.reasoning(), List.of()));
  }

  private static ChatResponse whole(dev.kvasir.ChatResponse result, AssistantMessage message) {
    ChatGenerationMetadata end =
        ChatGenerationMetadata.builder().finishReason(result.finishReason().name()).build();
    ChatResponseMetadata metadata =
        ChatResponseMetadata.builder()
            .id(result.id())
            .model(result.model())
            .usage(
                new DefaultUsage(
                    result.usage().promptTokens(),
                    result.usage().generatedTokens(),
                    result.usage().totalTokens(),
                    null,
                    (long) result.usage().cachedTokens(),
                    null))
            .build();
    return new ChatResponse(List.of(new Generation(message, end)), metadata);
  }

  static ChatResponse piece(ChatStream stream, String text, String reasoning) {
    return part(stream, message(text, reasoning, List.of()));
  }

  static ChatResponse call(ChatStream stream, ToolCall toolCall, String reasoning) {
    return part(stream, message("", reasoning, List.of(call(toolCall))));
  }

  private static ChatResponse part(ChatStream stream, AssistantMessage message) {
    ChatResponseMetadata metadata =
        ChatResponseMetadata.builder().id(stream.id()).model(stream.model()).build();
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

  private static AssistantMessage.ToolCall call(ToolCall toolCall) {
    return new AssistantMessage.ToolCall(
        toolCall.id(), "function", toolCall.name(), toolCall.arguments());
  }
}
