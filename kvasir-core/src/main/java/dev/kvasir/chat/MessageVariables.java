package dev.kvasir.chat;

import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.kvasir.ChatMessage;
import dev.kvasir.ToolCall;
import dev.kvasir.format.JsonValues;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Converts messages to the form that chat templates use, which is that of the OpenAI API. */
final class MessageVariables {
  private MessageVariables() {}

  static List<Map<String, Object>> of(List<ChatMessage> messages) {
    return messages.stream().map(MessageVariables::of).toList();
  }

  private static Map<String, Object> of(ChatMessage message) {
    Map<String, Object> variables = new LinkedHashMap<>();
    variables.put("role", message.role().name().toLowerCase(Locale.ROOT));
    variables.put("content", message.text());
    message.name().ifPresent(name -> variables.put("name", name));
    message.toolCallId().ifPresent(id -> variables.put("tool_call_id", id));
    message.reasoning().ifPresent(text -> variables.put("reasoning_content", text));
    if (!message.toolCalls().isEmpty()) {
      variables.put("tool_calls", message.toolCalls().stream().map(MessageVariables::of).toList());
    }
    return variables;
  }

  private static Map<String, Object> of(ToolCall call) {
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", call.name());
    function.put("arguments", arguments(call.arguments()));
    Map<String, Object> variables = new LinkedHashMap<>();
    variables.put("id", call.id());
    variables.put("type", "function");
    variables.put("function", function);
    return variables;
  }

  /** Parses arguments that are a JSON object, since templates serialize them to JSON again. */
  private static Object arguments(String json) {
    try {
      JsonElement parsed = JsonParser.parseString(json);
      return parsed.isJsonObject() ? JsonValues.of(parsed) : json;
    } catch (JsonParseException e) {
      return json;
    }
  }
}
