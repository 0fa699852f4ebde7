package dev.kvasir.langchain4j;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.UnsupportedFeatureException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Converts LangChain4j messages to OpenAI JSON. */
final class MessageJson {
  private MessageJson() {}

  static JsonArray of(List<ChatMessage> messages) {
    JsonArray list = new JsonArray();
    messages.forEach(message -> list.add(message(message)));
    return list;
  }

  private static JsonObject message(ChatMessage message) {
    return switch (message) {
      case SystemMessage system -> message("system", system.text());
      case UserMessage user -> user(user);
      case AiMessage answer -> answer(answer);
      case ToolExecutionResultMessage result -> result(result);
      default ->
          throw new UnsupportedFeatureException(
              "messages of type %s are not supported".formatted(word(message.type())));
    };
  }

  private static JsonObject message(String role, String content) {
    JsonObject json = new JsonObject();
    json.addProperty("role", role);
    json.addProperty("content", content);
    return json;
  }

  private static JsonObject user(UserMessage user) {
    JsonObject json = message("user", text(user.contents()));
    json.addProperty("name", user.name());
    return json;
  }

  private static String text(List<Content> contents) {
    return contents.stream().map(MessageJson::text).collect(Collectors.joining("\n"));
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

  private static JsonObject answer(AiMessage answer) {
    JsonObject json = message("assistant", answer.text());
    json.addProperty("reasoning_content", answer.thinking());
    if (answer.hasToolExecutionRequests()) {
      JsonArray calls = new JsonArray();
      answer.toolExecutionRequests().forEach(request -> calls.add(call(request)));
      json.add("tool_calls", calls);
    }
    return json;
  }

  private static JsonObject call(ToolExecutionRequest request) {
    JsonObject function = new JsonObject();
    function.addProperty("name", request.name());
    function.addProperty("arguments", request.arguments());
    JsonObject call = new JsonObject();
    call.addProperty("id", request.id());
    call.addProperty("type", "function");
    call.add("function", function);
    return call;
  }

  private static JsonObject result(ToolExecutionResultMessage result) {
    JsonObject json = message("tool", text(result.contents()));
    json.addProperty("tool_call_id", result.id());
    json.addProperty("name", result.toolName());
    return json;
  }
}
