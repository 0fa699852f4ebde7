package dev.kvasir.langchain4j;

import dev.kvasir.ChatMessage;
import dev.kvasir.ToolCall;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.UnsupportedFeatureException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Translates LangChain4j messages to those of Kvasir. */
final class MessageTranslator {
  private MessageTranslator() {}

  static List<ChatMessage> of(List<dev.langchain4j.data.message.ChatMessage> messages) {
    return messages.stream().map(MessageTranslator::of).toList();
  }

  private static ChatMessage of(dev.langchain4j.data.message.ChatMessage message) {
    return switch (message) {
      case SystemMessage system -> ChatMessage.system(system.text());
      case UserMessage user -> user(user);
      case AiMessage answer -> answer(answer);
      case ToolExecutionResultMessage result -> result(result);
      default ->
          throw new UnsupportedFeatureException(
              "messages of type %s are not supported".formatted(word(message.type())));
    };
  }

  private static ChatMessage user(UserMessage user) {
    ChatMessage message = ChatMessage.user(text(user.contents()));
    return user.name() == null ? message : message.withName(user.name());
  }

  private static String text(List<Content> contents) {
    return contents.stream().map(MessageTranslator::text).collect(Collectors.joining("\n"));
  }

  private static String text(Content content) {
    if (content instanceof TextContent text) {
      return text.text();
    }
    throw new UnsupportedFeatureException(
        "content of type %s is not supported; models read text".formatted(word(content.type())));
  }

  private static String word(Enum<?> type) {
    return type.name().toLowerCase(Locale.ROOT);
  }

  private static ChatMessage answer(AiMessage answer) {
    ChatMessage message =
        ChatMessage.assistant(
            answer.text() == null ? "" : answer.text(),
            answer.toolExecutionRequests().stream().map(MessageTranslator::call).toList());
    return answer.thinking() == null ? message : message.withReasoning(answer.thinking());
  }

  private static ToolCall call(ToolExecutionRequest request) {
    return new ToolCall(
        request.id(), request.name(), request.arguments() == null ? "{}" : request.arguments());
  }

  private static ChatMessage result(ToolExecutionResultMessage result) {
    ToolCall call = new ToolCall(result.id(), result.toolName(), "{}");
    return ChatMessage.toolResult(call, text(result.contents()));
  }
}
