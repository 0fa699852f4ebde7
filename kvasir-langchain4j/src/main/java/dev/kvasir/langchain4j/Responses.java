package dev.kvasir.langchain4j;

import dev.kvasir.server.LocalAnswer;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.ChatResponseMetadata;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;

/** Answers as LangChain4j gives them. */
final class Responses {
  private Responses() {}

  static ChatResponse of(LocalAnswer.Whole whole) {
    AiMessage message =
        AiMessage.builder()
            .text(whole.text().isEmpty() && !whole.calls().isEmpty() ? null : whole.text())
            .thinking(whole.reasoning().isEmpty() ? null : whole.reasoning())
            .toolExecutionRequests(whole.calls().stream().map(Responses::request).toList())
            .build();
    ChatResponseMetadata metadata =
        ChatResponseMetadata.builder()
            .id(whole.id())
            .modelName(whole.model())
            .tokenUsage(new TokenUsage(whole.promptTokens(), whole.generatedTokens()))
            .finishReason(reason(whole.reason()))
            .build();
    return ChatResponse.builder().aiMessage(message).metadata(metadata).build();
  }

  static ToolExecutionRequest request(LocalAnswer.Call call) {
    return ToolExecutionRequest.builder()
        .id(call.id())
        .name(call.name())
        .arguments(call.arguments())
        .build();
  }

  private static FinishReason reason(String word) {
    return switch (word) {
      case "stop" -> FinishReason.STOP;
      case "length" -> FinishReason.LENGTH;
      case "tool_calls" -> FinishReason.TOOL_EXECUTION;
      default -> FinishReason.OTHER;
    };
  }
}
