package dev.kvasir.langchain4j;

import dev.kvasir.server.ChatCompletion;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.ChatResponseMetadata;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.model.output.TokenUsage;

/** Converts results to LangChain4j responses. */
final class Responses {
  private Responses() {}

  static ChatResponse of(ChatCompletion.Result result) {
    AiMessage message =
        AiMessage.builder()
            .text(result.text().isEmpty() && !result.toolCalls().isEmpty() ? null : result.text())
            .thinking(result.reasoning().isEmpty() ? null : result.reasoning())
            .toolExecutionRequests(result.toolCalls().stream().map(Responses::request).toList())
            .build();
    ChatResponseMetadata metadata =
        ChatResponseMetadata.builder()
            .id(result.id())
            .modelName(result.model())
            .tokenUsage(new TokenUsage(result.promptTokens(), result.generatedTokens()))
            .finishReason(reason(result.finishReason()))
            .build();
    return ChatResponse.builder().aiMessage(message).metadata(metadata).build();
  }

  static ToolExecutionRequest request(ChatCompletion.ToolCall toolCall) {
    return ToolExecutionRequest.builder()
        .id(toolCall.id())
        .name(toolCall.name())
        .arguments(toolCall.arguments())
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
