package dev.kvasir.spring;

import dev.kvasir.server.LocalAnswer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/** Answers as Spring AI gives them. */
final class Responses {
  /** Where Spring AI's own models keep what was thought. */
  static final String REASONING = "reasoningContent";

  private Responses() {}

  /** A whole answer. */
  static ChatResponse of(LocalAnswer.Whole whole) {
    List<AssistantMessage.ToolCall> calls = whole.calls().stream().map(Responses::call).toList();
    return whole(whole, message(whole.text(), whole.reasoning(), calls));
  }

  /** The last response of a stream, which says how it ended and what it took. */
  static ChatResponse end(LocalAnswer.Whole whole) {
    return whole(whole, message("", whole.reasoning(), List.of()));
  }

  private static ChatResponse whole(LocalAnswer.Whole whole, AssistantMessage message) {
    ChatGenerationMetadata end =
        ChatGenerationMetadata.builder()
            .finishReason(whole.reason().toUpperCase(Locale.ROOT))
            .build();
    ChatResponseMetadata metadata =
        ChatResponseMetadata.builder()
            .id(whole.id())
            .model(whole.model())
            .usage(
                new DefaultUsage(
                    whole.promptTokens(),
                    whole.generatedTokens(),
                    whole.promptTokens() + whole.generatedTokens(),
                    null,
                    (long) whole.knownTokens(),
                    null))
            .build();
    return new ChatResponse(List.of(new Generation(message, end)), metadata);
  }

  static ChatResponse piece(LocalAnswer answer, String text, String reasoning) {
    return part(answer, message(text, reasoning, List.of()));
  }

  static ChatResponse call(LocalAnswer answer, LocalAnswer.Call call, String reasoning) {
    return part(answer, message("", reasoning, List.of(call(call))));
  }

  private static ChatResponse part(LocalAnswer answer, AssistantMessage message) {
    ChatResponseMetadata metadata =
        ChatResponseMetadata.builder().id(answer.id()).model(answer.model()).build();
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

  private static AssistantMessage.ToolCall call(LocalAnswer.Call call) {
    return new AssistantMessage.ToolCall(call.id(), "function", call.name(), call.arguments());
  }
}
