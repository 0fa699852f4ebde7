package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.kvasir.format.JsonValues;
import dev.kvasir.server.api.Fields;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the messages of a request into the form that chat templates use. */
final class ChatMessages {
  private ChatMessages() {}

  static List<Map<String, Object>> read(Fields request) {
    JsonArray messages =
        request
            .array("messages")
            .filter(list -> !list.isEmpty())
            .orElseThrow(() -> request.missing("messages", "a list of at least one message"));
    List<Map<String, Object>> read = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      String path = "messages[%d]".formatted(i);
      if (!messages.get(i).isJsonObject()) {
        throw request.wrong(path, messages.get(i), "an object with role and content");
      }
      read.add(message(Fields.of(messages.get(i).getAsJsonObject(), path)));
    }
    return read;
  }

  private static Map<String, Object> message(Fields message) {
    Map<String, Object> read = new LinkedHashMap<>();
    read.put(
        "role",
        message
            .string("role")
            .map(role -> role.equals("developer") ? "system" : role)
            .orElseThrow(() -> message.missing("role", "system, user, assistant or tool")));
    read.put("content", message.element("content").map(part -> content(message, part)).orElse(""));
    for (String name : List.of("name", "tool_call_id", "reasoning_content")) {
      message.string(name).ifPresent(text -> read.put(name, text));
    }
    message.array("tool_calls").ifPresent(calls -> read.put("tool_calls", calls(calls)));
    return read;
  }

  /** Returns the text of a string, or of a list of text parts. */
  private static String content(Fields message, JsonElement content) {
    if (content.isJsonPrimitive()) {
      return content.getAsString();
    }
    if (!content.isJsonArray()) {
      throw message.wrong("content", content, "a string, or a list of parts of type text");
    }
    StringBuilder text = new StringBuilder();
    for (JsonElement part : content.getAsJsonArray()) {
      boolean isText = part.isJsonObject() && part.getAsJsonObject().has("text");
      if (!isText) {
        throw message.wrong("content", part, "parts of type text, which is all this model reads");
      }
      text.append(part.getAsJsonObject().get("text").getAsString());
    }
    return text.toString();
  }

  /** Parses arguments that are JSON text, since templates serialize them to JSON again. */
  private static Object calls(JsonArray calls) {
    JsonArray opened = calls.deepCopy();
    for (JsonElement call : opened) {
      if (call.isJsonObject() && call.getAsJsonObject().get("function") instanceof JsonObject f) {
        JsonElement arguments = f.get("arguments");
        if (arguments != null && arguments.isJsonPrimitive()) {
          f.add("arguments", opened(arguments));
        }
      }
    }
    return JsonValues.of(opened);
  }

  private static JsonElement opened(JsonElement arguments) {
    try {
      JsonElement parsed = JsonParser.parseString(arguments.getAsString());
      return parsed.isJsonObject() ? parsed : arguments;
    } catch (JsonParseException e) {
      return arguments;
    }
  }
}
