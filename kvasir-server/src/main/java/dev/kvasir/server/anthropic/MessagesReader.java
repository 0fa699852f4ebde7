package dev.kvasir.server.anthropic;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.util.List;
import java.util.Optional;

/** Translates requests of the Messages API to requests of chat completions. */
public final class MessagesReader {
  private MessagesReader() {}

  /** Returns the same request in the form of chat completions. */
  public static Fields chat(Fields request) {
    JsonObject chat = request.json().deepCopy();
    for (String own : List.of("system", "messages", "tools", "tool_choice", "thinking", "n")) {
      chat.remove(own);
    }
    chat.add("messages", messages(request));
    JsonArray tools = tools(request);
    if (!tools.isEmpty()) {
      chat.add("tools", tools);
      choice(request).ifPresent(choice -> chat.add("tool_choice", choice));
    }
    request
        .object("tool_choice")
        .filter(choice -> choice.isTrue("disable_parallel_tool_use"))
        .ifPresent(choice -> chat.addProperty("parallel_tool_calls", false));
    request.element("stop_sequences").ifPresent(stop -> chat.add("stop", stop));
    format(request).ifPresent(format -> chat.add("response_format", format));
    thinking(request).ifPresent(thinks -> chat.add("chat_template_kwargs", thinks));
    request
        .object("output_config")
        .flatMap(config -> config.string("effort"))
        .ifPresent(effort -> chat.addProperty("reasoning_effort", effort));
    return Fields.of(chat);
  }

  private static JsonArray messages(Fields request) {
    JsonArray list =
        request
            .array("messages")
            .filter(given -> !given.isEmpty())
            .orElseThrow(() -> request.missing("messages", "a list of at least one message"));
    JsonArray messages = new JsonArray();
    system(request).ifPresent(messages::add);
    String role = "";
    for (int i = 0; i < list.size(); i++) {
      String path = "messages[%d]".formatted(i);
      if (!(list.get(i) instanceof JsonObject object)) {
        throw request.wrong(path, list.get(i), "an object with role and content");
      }
      Fields message = Fields.of(object, path);
      role = role(message);
      ContentBlocks.messages(message, role).forEach(messages::add);
    }
    if (role.equals("assistant")) {
      throw ApiException.invalidField(
          "messages", "the last message is the assistant's; expected one of the user");
    }
    return messages;
  }

  private static String role(Fields message) {
    String role = message.string("role").orElse("");
    if (!List.of("user", "assistant", "system").contains(role)) {
      throw message.wrong("role", new JsonPrimitive(role), "user or assistant");
    }
    return role;
  }

  private static Optional<JsonObject> system(Fields request) {
    Optional<JsonElement> given = request.element("system");
    if (given.isEmpty()) {
      return Optional.empty();
    }
    JsonObject message = new JsonObject();
    message.add("content", given.get());
    return Optional.of(ContentBlocks.messages(Fields.of(message, "system"), "system").getFirst());
  }

  /** Tools that Anthropic runs itself have a type with a date and no schema; they are left out. */
  private static JsonArray tools(Fields request) {
    JsonArray list = request.array("tools").orElseGet(JsonArray::new);
    JsonArray tools = new JsonArray();
    for (int i = 0; i < list.size(); i++) {
      String path = "tools[%d]".formatted(i);
      if (!(list.get(i) instanceof JsonObject object)) {
        throw request.wrong(path, list.get(i), "an object with name and input_schema");
      }
      Fields tool = Fields.of(object, path);
      if (tool.string("type").orElse("custom").equals("custom")) {
        tools.add(tool(tool));
      }
    }
    return tools;
  }

  private static JsonObject tool(Fields tool) {
    JsonObject function = new JsonObject();
    function.addProperty(
        "name", tool.string("name").orElseThrow(() -> tool.missing("name", "the tool's name")));
    tool.string("description").ifPresent(text -> function.addProperty("description", text));
    tool.object("input_schema").ifPresent(schema -> function.add("parameters", schema.json()));
    JsonObject wrapped = new JsonObject();
    wrapped.addProperty("type", "function");
    wrapped.add("function", function);
    return wrapped;
  }

  private static Optional<JsonElement> choice(Fields request) {
    return request.object("tool_choice").map(choice -> choice(request, choice));
  }

  private static JsonElement choice(Fields request, Fields choice) {
    return switch (choice.string("type").orElse("")) {
      case "auto" -> new JsonPrimitive("auto");
      case "any" -> new JsonPrimitive("required");
      case "none" -> new JsonPrimitive("none");
      case "tool" -> {
        JsonObject function = new JsonObject();
        function.addProperty(
            "name", choice.string("name").orElseThrow(() -> choice.missing("name", "a tool")));
        JsonObject named = new JsonObject();
        named.addProperty("type", "function");
        named.add("function", function);
        yield named;
      }
      default ->
          throw request.wrong("tool_choice", choice.json(), "the type auto, any, tool or none");
    };
  }

  /** Returns the schema of the answer, which has been in two places of the API. */
  private static Optional<JsonElement> format(Fields request) {
    return request
        .object("output_config")
        .flatMap(config -> config.object("format"))
        .or(() -> request.object("output_format"))
        .map(
            format -> {
              JsonObject named = new JsonObject();
              format.element("schema").ifPresent(schema -> named.add("schema", schema));
              JsonObject moved = new JsonObject();
              moved.add("type", format.json().get("type"));
              moved.add("json_schema", named);
              return moved;
            });
  }

  /** Returns the variables of the chat template that turn thinking on or off. */
  private static Optional<JsonObject> thinking(Fields request) {
    return request
        .object("thinking")
        .flatMap(thinking -> thinking.string("type"))
        .map(
            type -> {
              JsonObject variables = new JsonObject();
              variables.addProperty("enable_thinking", !type.equals("disabled"));
              variables.addProperty("thinking", !type.equals("disabled"));
              return variables;
            });
  }
}
