package dev.kvasir.server.responses;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.function.Function;

/**
 * Translates the items of a conversation to messages of chat completions. Reasoning, text and calls
 * of one turn are separate items, but one message.
 */
final class InputItems {
  private static final String EXPECTED =
      "a message, reasoning, function_call, function_call_output, custom_tool_call,"
          + " custom_tool_call_output or item_reference";

  private final Function<String, JsonObject> references;
  private final JsonArray messages = new JsonArray();
  private JsonObject turn; // the assistant's message that is being assembled; null for none

  /**
   * @param references finds the item of an id
   */
  InputItems(Function<String, JsonObject> references) {
    this.references = references;
  }

  /** Returns the messages, after those of the system in one. */
  static JsonArray messages(
      String instructions, List<JsonObject> items, Function<String, JsonObject> references) {
    InputItems input = new InputItems(references);
    if (!instructions.isEmpty()) {
      input.add("system", instructions);
    }
    for (int i = 0; i < items.size(); i++) {
      input.read(Fields.of(items.get(i), "input[%d]".formatted(i)));
    }
    return input.messages;
  }

  private void read(Fields item) {
    String type = item.string("type").orElse("message");
    switch (type) {
      case "message" -> message(item);
      case "reasoning" -> reasoning(item);
      case "function_call" -> call(item, item.string("arguments").orElse("{}"));
      case "custom_tool_call" -> call(item, customArguments(item));
      case "function_call_output", "custom_tool_call_output" -> output(item);
      case "item_reference" -> read(referenced(item));
      default -> throw item.wrong("type", item.json().get("type"), EXPECTED);
    }
  }

  private Fields referenced(Fields item) {
    String id = item.string("id").orElseThrow(() -> item.missing("id", "the id of an item"));
    return Fields.of(references.apply(id), id);
  }

  private void message(Fields item) {
    String role = item.string("role").orElse("user");
    String text = item.element("content").map(content -> text(item, "content", content)).orElse("");
    switch (role) {
      case "assistant" -> turnFor("content").addProperty("content", text);
      case "developer" -> add("system", text);
      default -> add(role, text);
    }
  }

  /** Some templates allow one system message only, so those at the beginning are joined. */
  private void add(String role, String text) {
    turn = null;
    boolean joins =
        messages.size() == 1
            && role.equals("system")
            && messages.get(0).getAsJsonObject().get("role").getAsString().equals("system");
    if (joins) {
      JsonObject first = messages.get(0).getAsJsonObject();
      first.addProperty("content", first.get("content").getAsString() + "\n\n" + text);
      return;
    }
    JsonObject message = new JsonObject();
    message.addProperty("role", role);
    message.addProperty("content", text);
    messages.add(message);
  }

  /** Returns the message of the assistant that has neither this field nor a call yet. */
  private JsonObject turnFor(String field) {
    if (turn == null || turn.has(field) || turn.has("tool_calls")) {
      newTurn();
    }
    return turn;
  }

  private void newTurn() {
    turn = new JsonObject();
    turn.addProperty("role", "assistant");
    messages.add(turn);
  }

  private void reasoning(Fields item) {
    String text = reasoningText(item);
    if (!text.isEmpty()) {
      if (turn != null && turn.has("content")) {
        newTurn();
      }
      turnFor("reasoning_content").addProperty("reasoning_content", text);
    }
  }

  private static String reasoningText(Fields item) {
    for (String field : List.of("content", "summary")) {
      String text = item.element(field).map(parts -> text(item, field, parts)).orElse("");
      if (!text.isEmpty()) {
        return text;
      }
    }
    return item.string("encrypted_content").map(text -> decoded(item, text)).orElse("");
  }

  /** Returns what {@link OutputItems} wrote for clients that keep no plain reasoning. */
  private static String decoded(Fields item, String text) {
    try {
      return new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw item.wrong(
          "encrypted_content",
          item.json().get("encrypted_content"),
          "what a response of this server has");
    }
  }

  private void call(Fields item, String arguments) {
    JsonObject function = new JsonObject();
    function.addProperty(
        "name", item.string("name").orElseThrow(() -> item.missing("name", "the function's name")));
    function.addProperty("arguments", arguments);
    JsonObject call = new JsonObject();
    call.addProperty("id", callId(item));
    call.addProperty("type", "function");
    call.add("function", function);
    if (turn == null) {
      newTurn();
    }
    if (!turn.has("tool_calls")) {
      turn.add("tool_calls", new JsonArray());
    }
    turn.getAsJsonArray("tool_calls").add(call);
  }

  private static String callId(Fields item) {
    return item.string("call_id").orElseThrow(() -> item.missing("call_id", "the id of the call"));
  }

  private static String customArguments(Fields item) {
    JsonObject arguments = new JsonObject();
    arguments.addProperty(ResponseTools.INPUT, item.string("input").orElse(""));
    return arguments.toString();
  }

  private void output(Fields item) {
    JsonElement output =
        item.element("output").orElseThrow(() -> item.missing("output", "the result of the call"));
    turn = null;
    JsonObject message = new JsonObject();
    message.addProperty("role", "tool");
    message.addProperty("tool_call_id", callId(item));
    message.addProperty("content", text(item, "output", output));
    messages.add(message);
  }

  /** Returns the text of a string, or of a list of text parts. */
  private static String text(Fields item, String field, JsonElement content) {
    if (content.isJsonPrimitive()) {
      return content.getAsString();
    }
    if (!content.isJsonArray()) {
      throw item.wrong(field, content, "a string or a list of parts");
    }
    StringBuilder text = new StringBuilder();
    for (JsonElement part : content.getAsJsonArray()) {
      text.append(partText(item, field, part));
    }
    return text.toString();
  }

  private static String partText(Fields item, String field, JsonElement part) {
    if (part instanceof JsonObject object) {
      for (String name : List.of("text", "refusal")) {
        if (object.get(name) != null && object.get(name).isJsonPrimitive()) {
          return object.get(name).getAsString();
        }
      }
    }
    throw item.wrong(field, part, "parts of text, which is all this model reads");
  }

  /** Returns the input of a request as items. */
  static List<JsonObject> of(Fields request) {
    JsonElement input =
        request
            .element("input")
            .orElseThrow(() -> request.missing("input", "a text or a list of items"));
    if (input.isJsonPrimitive() && input.getAsJsonPrimitive().isString()) {
      JsonObject item = new JsonObject();
      item.addProperty("type", "message");
      item.addProperty("role", "user");
      item.add("content", input);
      return List.of(item);
    }
    if (!input.isJsonArray()) {
      throw request.wrong("input", input, "a text or a list of items");
    }
    List<JsonElement> items = input.getAsJsonArray().asList();
    for (int i = 0; i < items.size(); i++) {
      if (!items.get(i).isJsonObject()) {
        throw request.wrong("input[%d]".formatted(i), items.get(i), EXPECTED);
      }
    }
    return items.stream().map(JsonElement::getAsJsonObject).toList();
  }

  static ApiException unknownReference(String id) {
    return ApiException.notFoundField("input", "there is no item '%s'".formatted(id));
  }
}
