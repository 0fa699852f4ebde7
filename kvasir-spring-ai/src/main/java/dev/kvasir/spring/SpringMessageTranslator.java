package dev.kvasir.spring;

import dev.kvasir.ChatMessage;
import dev.kvasir.ToolCall;
import dev.kvasir.error.InvalidInputException;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.content.MediaContent;

/** Translates Spring AI messages to those of Kvasir. */
final class SpringMessageTranslator {
  private SpringMessageTranslator() {}

  static List<ChatMessage> of(List<Message> messages) {
    return messages.stream().flatMap(SpringMessageTranslator::each).toList();
  }

  /** Translates a message; the results of several tool calls become several messages. */
  private static Stream<ChatMessage> each(Message message) {
    if (message instanceof MediaContent content && !content.getMedia().isEmpty()) {
      throw new InvalidInputException(
          "a message holds media of type %s, which is not supported; models read text"
              .formatted(content.getMedia().iterator().next().getMimeType()));
    }
    return switch (message) {
      case AssistantMessage answer -> Stream.of(answer(answer));
      case ToolResponseMessage results ->
          results.getResponses().stream().map(SpringMessageTranslator::result);
      default -> Stream.of(message(message.getMessageType(), text(message)));
    };
  }

  private static ChatMessage message(MessageType type, String text) {
    return switch (type) {
      case SYSTEM -> ChatMessage.system(text);
      case ASSISTANT -> ChatMessage.assistant(text);
      case USER, TOOL -> ChatMessage.user(text);
    };
  }

  private static String text(Message message) {
    return message.getText() == null ? "" : message.getText();
  }

  private static ChatMessage answer(AssistantMessage answer) {
    ChatMessage message =
        ChatMessage.assistant(
            text(answer),
            answer.getToolCalls().stream().map(SpringMessageTranslator::call).toList());
    return answer.getMetadata().get(SpringResponses.REASONING) instanceof String reasoning
        ? message.withReasoning(reasoning)
        : message;
  }

  private static ToolCall call(AssistantMessage.ToolCall made) {
    return new ToolCall(made.id(), made.name(), made.arguments() == null ? "{}" : made.arguments());
  }

  private static ChatMessage result(ToolResponseMessage.ToolResponse response) {
    ToolCall call = new ToolCall(response.id(), response.name(), "{}");
    return ChatMessage.toolResult(call, response.responseData());
  }
}
