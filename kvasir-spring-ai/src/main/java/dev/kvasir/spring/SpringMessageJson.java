package dev.kvasir.spring;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.error.InvalidInputException;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.content.MediaContent;

/** Converts Spring AI messages to OpenAI JSON. */
final class SpringMessageJson {
  private SpringMessageJson() {}

  static JsonArray of(List<Message> messages) {
    JsonArray list = new JsonArray();
    messages.stream().flatMap(SpringMessageJson::each).forEach(list::add);
    return list;
  }

  /** Converts a message; the results of several tool calls become several messages. */
  private static Stream<JsonObject> each(Message message) {
    if (message instanceof MediaContent content && !content.getMedia().isEmpty()) {
      throw new InvalidInputException(
          "a message holds media of type %s, which is not supported; models read text"
              .formatted(content.getMedia().iterator().next().getMimeType()));
    }
    return switch (message) {
      case AssistantMessage answer -> Stream.of(answer(answer));
      case ToolResponseMessage results ->
          results.getResponses().stream().map(SpringMessageJson::result);
      default -> Stream.of(message(message.getMessageType().getValue(), message.getText()));
    };
  }

  private static JsonObject message(String role, String content) {
    JsonObject json = new JsonObject();
    json.addProperty("role", role);
    json.addProperty("content", content);
    return json;
  }

  private static JsonObject answer(AssistantMessage answer) {
    JsonObject json = message("assistant", answer.getText());
    if (answer.getMetadata().get(SpringResponses.REASONING) instanceof String reasoning) {
      json.addProperty("reasoning_content", reasoning);
    }
    if (answer.hasToolCalls()) {
      JsonArray calls = new JsonArray();
      answer.getToolCalls().forEach(call -> calls.add(call(call)));
      json.add("tool_calls", calls);
    }
    return json;
  }

  private static JsonObject call(AssistantMessage.ToolCall made) {
    JsonObject function = new JsonObject();
    function.addProperty("name", made.name());
    function.addProperty("arguments", made.arguments());
    JsonObject call = new JsonObject();
    call.addProperty("id", made.id());
    call.addProperty("type", "function");
    call.add("function", function);
    return call;
  }

  private static JsonObject result(ToolResponseMessage.ToolResponse response) {
    JsonObject json = message("tool", response.responseData());
    json.addProperty("tool_call_id", response.id());
    json.addProperty("name", response.name());
    return json;
  }
}
