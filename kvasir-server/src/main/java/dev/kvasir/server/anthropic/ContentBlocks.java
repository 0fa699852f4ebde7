package dev.kvasir.server.anthropic;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.server.api.Fields;
import java.util.ArrayList;
import java.util.List;

/**
 * Translates a message of content blocks to messages of chat completions. Results of tools become
 * messages of their own, before the text of the user. Signatures of thinking blocks and {@code
 * cache_control} have no effect: every prefix is cached.
 */
final class ContentBlocks {
  private static final String TEXT_ONLY = "text, which is all this model reads";

  private final Fields message;
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder thinking = new StringBuilder();
  private final JsonArray calls = new JsonArray();
  private final List<JsonObject> results = new ArrayList<>();

  private ContentBlocks(Fields message) {
    this.message = message;
  }

  /**
   * @param role user, assistant or system
   */
  static List<JsonObject> messages(Fields message, String role) {
    ContentBlocks blocks = new ContentBlocks(message);
    blocks.readAll();
    return blocks.messages(role);
  }

  private void readAll() {
    JsonElement content =
        message
            .element("content")
            .orElseThrow(() -> message.missing("content", "a text or a list of blocks"));
    if (content.isJsonPrimitive()) {
      text.append(content.getAsString());
      return;
    }
    if (!content.isJsonArray()) {
      throw message.wrong("content", content, "a text or a list of blocks");
    }
    JsonArray list = content.getAsJsonArray();
    for (int i = 0; i < list.size(); i++) {
      String path = "content[%d]".formatted(i);
      if (!(list.get(i) instanceof JsonObject object)) {
        throw message.wrong(path, list.get(i), "a block with a type");
      }
      read(message.at(path, object));
    }
  }

  private void read(Fields block) {
    String type = block.string("type").orElse("text");
    switch (type) {
      case "text" -> text.append(block.string("text").orElse(""));
      case "thinking" -> thinking.append(block.string("thinking").orElse(""));
      case "redacted_thinking" -> {} // of another server, and encrypted
      case "document" -> text.append(document(block));
      case "tool_use" -> calls.add(call(block));
      case "tool_result" -> results.add(result(block));
      default ->
          throw block.wrong(
              "type",
              block.json().get("type"),
              "text, document, thinking, tool_use or tool_result");
    }
  }

  private static String document(Fields block) {
    Fields source =
        block.object("source").orElseThrow(() -> block.missing("source", "a source of text"));
    if (!source.string("type").orElse("").equals("text")) {
      throw block.wrong("source", source.json(), "a source of type text");
    }
    return source.string("data").orElse("");
  }

  private static JsonObject call(Fields block) {
    JsonObject function = new JsonObject();
    function.addProperty("name", required(block, "name"));
    function.addProperty(
        "arguments", block.object("input").map(input -> input.json().toString()).orElse("{}"));
    JsonObject call = new JsonObject();
    call.addProperty("id", required(block, "id"));
    call.addProperty("type", "function");
    call.add("function", function);
    return call;
  }

  private static String required(Fields block, String name) {
    return block.string(name).orElseThrow(() -> block.missing(name, "a text"));
  }

  private static JsonObject result(Fields block) {
    JsonObject result = new JsonObject();
    result.addProperty("role", "tool");
    result.addProperty("tool_call_id", required(block, "tool_use_id"));
    result.addProperty("content", resultText(block));
    return result;
  }

  private static String resultText(Fields block) {
    JsonElement content = block.element("content").orElse(null);
    if (content == null || content.isJsonPrimitive()) {
      return content == null ? "" : content.getAsString();
    }
    StringBuilder text = new StringBuilder();
    for (JsonElement part : block.array("content").get()) {
      boolean isText =
          part instanceof JsonObject object
              && object.get("text") != null
              && object.get("text").isJsonPrimitive();
      if (!isText) {
        throw block.wrong("content", part, TEXT_ONLY);
      }
      text.append(part.getAsJsonObject().get("text").getAsString());
    }
    return text.toString();
  }

  private List<JsonObject> messages(String role) {
    List<JsonObject> messages = new ArrayList<>(results);
    boolean hasText = !text.isEmpty() || results.isEmpty();
    if (hasText || !calls.isEmpty()) {
      JsonObject own = new JsonObject();
      own.addProperty("role", role);
      own.addProperty("content", text.toString());
      if (!thinking.isEmpty()) {
        own.addProperty("reasoning_content", thinking.toString());
      }
      if (!calls.isEmpty()) {
        own.add("tool_calls", calls);
      }
      messages.add(own);
    }
    return messages;
  }
}
