package dev.kvasir.server.responses;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Translates the tools of a request. A custom tool, whose input is plain text, becomes a function
 * with one text argument. Tools that OpenAI runs itself, such as web search, are left out, so that
 * agents that always list them work.
 *
 * @param tools in the form of chat completions
 * @param choice in the form of chat completions; empty if not given
 * @param customNames names of the custom tools
 */
record ResponseTools(JsonArray tools, Optional<JsonElement> choice, Set<String> customNames) {
  /** The argument of a custom tool. */
  static final String INPUT = "input";

  static ResponseTools read(Fields request) {
    JsonArray list = request.array("tools").orElseGet(JsonArray::new);
    JsonArray tools = new JsonArray();
    Set<String> customNames = new HashSet<>();
    for (int i = 0; i < list.size(); i++) {
      String path = "tools[%d]".formatted(i);
      if (!(list.get(i) instanceof JsonObject object)) {
        throw request.wrong(path, list.get(i), "an object with a type");
      }
      Fields tool = Fields.of(object, path);
      switch (tool.string("type").orElse("function")) {
        case "function" -> tools.add(function(tool));
        case "custom" -> {
          tools.add(custom(tool));
          customNames.add(name(tool));
        }
        default -> {} // a tool that OpenAI runs
      }
    }
    return new ResponseTools(tools, choice(request, tools), customNames);
  }

  private static String name(Fields tool) {
    return tool.string("name").orElseThrow(() -> tool.missing("name", "the function's name"));
  }

  private static JsonObject function(Fields tool) {
    JsonObject parameters = tool.object("parameters").map(Fields::json).orElse(null);
    return wrapped(name(tool), tool.string("description").orElse(null), parameters);
  }

  private static JsonObject wrapped(String name, String description, JsonObject parameters) {
    JsonObject function = new JsonObject();
    function.addProperty("name", name);
    if (description != null) {
      function.addProperty("description", description);
    }
    if (parameters != null) {
      function.add("parameters", parameters);
    }
    JsonObject tool = new JsonObject();
    tool.addProperty("type", "function");
    tool.add("function", function);
    return tool;
  }

  private static JsonObject custom(Fields tool) {
    String description = tool.string("description").orElse("");
    Optional<String> grammar = tool.object("format").flatMap(format -> format.string("definition"));
    String hint = grammar.map(text -> "\nThe input has this grammar:\n" + text).orElse("");
    JsonObject text = new JsonObject();
    text.addProperty("type", "string");
    JsonObject properties = new JsonObject();
    properties.add(INPUT, text);
    JsonArray required = new JsonArray();
    required.add(INPUT);
    JsonObject parameters = new JsonObject();
    parameters.addProperty("type", "object");
    parameters.add("properties", properties);
    parameters.add("required", required);
    return wrapped(name(tool), description + hint, parameters);
  }

  private static Optional<JsonElement> choice(Fields request, JsonArray tools) {
    Optional<JsonElement> given = request.element("tool_choice");
    if (given.isEmpty() || !given.get().isJsonObject()) {
      return given;
    }
    Fields choice = Fields.of(given.get().getAsJsonObject(), "tool_choice");
    return switch (choice.string("type").orElse("")) {
      case "function", "custom" -> Optional.of(named(name(choice)));
      case "allowed_tools" -> Optional.of(allowed(choice, tools));
      default ->
          throw request.wrong(
              "tool_choice",
              given.get(),
              "none, auto, required, or an object of type function, custom or allowed_tools");
    };
  }

  private static JsonObject named(String name) {
    JsonObject function = new JsonObject();
    function.addProperty("name", name);
    JsonObject choice = new JsonObject();
    choice.addProperty("type", "function");
    choice.add("function", function);
    return choice;
  }

  /** Removes the tools that are not allowed; the mode is that of the choice. */
  private static JsonElement allowed(Fields choice, JsonArray tools) {
    Set<String> names = new HashSet<>();
    for (JsonElement tool : choice.array("tools").orElseGet(JsonArray::new)) {
      if (tool instanceof JsonObject object) {
        Fields.of(object, "tool_choice.tools").string("name").ifPresent(names::add);
      }
    }
    tools
        .asList()
        .removeIf(
            tool ->
                !names.contains(
                    tool.getAsJsonObject().getAsJsonObject("function").get("name").getAsString()));
    if (tools.isEmpty()) {
      throw ApiException.invalidField(
          "tool_choice.tools",
          "tool_choice.tools are %s; expected names of tools".formatted(names));
    }
    return new JsonPrimitive(choice.string("mode").orElse("auto"));
  }
}
