package dev.kvasir.langchain4j;

import dev.kvasir.ChatResponse;
import dev.kvasir.ToolCall;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.response.ChatResponseMetadata;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;

/** Translates responses of Kvasir to those of LangChain4j. */
final class Responses {
  private Responses() {}

  static dev.langchain4j.model.chat.response.ChatResponse of(ChatResponse response) {
    boolean onlyCalls = response.text().isEmpty() && !response.toolCalls().isEmpty();
    AiMessage message =
        AiMessage.builder()
            .text(onlyCalls ? null : response.text())
            .thinking(response.reasoning().isEmpty() ? null : response.reasoning())
            .toolExecutionRequests(response.toolCalls().stream().map(Responses::request).toList())
            .build();
    ChatResponse.TokenUsage usage = response.usage();
    ChatResponseMetadata metadata =
        ChatResponseMetadata.builder()
            .id(response.id())
            .modelName(response.model())
            .tokenUsage(new TokenUsage(usage.promptTokens(), usage.generatedTokens()))
            .finishReason(reason(response.finishReason()))
            .build();
    return dev.langchain4j.model.chat.response.ChatResponse.builder()
        .aiMessage(message)
        .metadata(metadata)
        .build();
  }

  static ToolExecutionRequest request(ToolCall toolCall) {
    return ToolExecutionRequest.builder()
        .id(toolCall.id())
        .name(toolCall.name())
        .arguments(toolCall.arguments())
        .build();
  }

  private static FinishReason reason(ChatResponse.FinishReason reason) {
    return switch (reason) {
      case STOP -> FinishReason.STOP;
      case LENGTH -> FinishReason.LENGTH;
      case TOOL_CALLS -> FinishReason.TOOL_EXECUTION;
    };
  }
}
