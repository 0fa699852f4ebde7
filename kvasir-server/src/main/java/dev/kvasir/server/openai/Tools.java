package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.format.JsonValues;
import dev.kvasir.server.answer.ToolSyntax;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The functions that a request lets the model call.
 *
 * @param functions names and argument schemas
 * @param json the tools as the request has them
 * @param choice whether a call is allowed or required
 */
record Tools(List<Function> functions, JsonArray json, Choice choice) {
  static final Tools NONE = new Tools(List.of(), new JsonArray(), Choice.AUTO);

  enum Choice {
    AUTO,
    REQUIRED
  }

  /**
   * @param schema a JSON Schema of the arguments
   */
  record Function(String name, JsonObject schema) {}

  static Tools read(Fields request) {
    Optional<JsonArray> list = request.array("tools").filter(tools -> !tools.isEmpty());
    Optional<JsonElement> choice = request.element("tool_choice");
    if (list.isEmpty() || choice.filter(Tools::isNone).isPresent()) {
      return NONE;
    }
    List<Function> functions = new ArrayList<>();
    for (int i = 0; i < list.get().size(); i++) {
      functions.add(function(request, list.get().get(i), "tools[%d]".formatted(i)));
    }
    Tools all = new Tools(List.copyOf(functions), list.get(), Choice.AUTO);
    return choice.map(wanted -> all.with(request, wanted)).orElse(all);
  }

  private static boolean isNone(JsonElement choice) {
    return choice.isJsonPrimitive() && choice.getAsString().equals("none");
  }

  private static Function function(Fields request, JsonElement tool, String path) {
    if (!tool.isJsonObject()
        || !(tool.getAsJsonObject().get("function") instanceof JsonObject function)) {
      throw request.wrong(path, tool, "an object of type function");
    }
    Fields fields = Fields.of(function, path + ".function");
    String name =
        fields.string("name").orElseThrow(() -> fields.missing("name", "the function's name"));
    return new Function(
        name, fields.object("parameters").map(Fields::json).orElseGet(Tools::anySchema));
  }

  private static JsonObject anySchema() {
    JsonObject schema = new JsonObject();
    schema.addProperty("type", "object");
    return schema;
  }

  private Tools with(Fields request, JsonElement wanted) {
    if (wanted.isJsonObject()) {
      String name =
          Fields.of(wanted.getAsJsonObject(), "tool_choice")
              .object("function")
              .flatMap(function -> function.string("name"))
              .orElseThrow(() -> request.wrong("tool_choice", wanted, "the name of a function"));
      return only(name);
    }
    return switch (wanted.getAsString()) {
      case "auto" -> this;
      case "required" -> new Tools(functions, json, Choice.REQUIRED);
      default -> throw request.wrong("tool_choice", wanted, "none, auto, required or a function");
    };
  }

  private Tools only(String name) {
    List<Function> named =
        functions.stream().filter(function -> function.name().equals(name)).toList();
    if (named.isEmpty()) {
      throw ApiException.invalidField(
          "tool_choice",
          "tool_choice is '%s'; the tools are %s"
              .formatted(name, functions.stream().map(Function::name).toList()));
    }
    return new Tools(named, json, Choice.REQUIRED);
  }

  boolean isEmpty() {
    return functions.isEmpty();
  }

  Optional<ToolSyntax> syntax() {
    return isEmpty() ? Optional.empty() : Optional.of(ToolSyntax.TAGS);
  }

  /** Returns the tools in the form that chat templates use. */
  @SuppressWarnings("unchecked") // a list of objects, checked when it was read
  List<Map<String, Object>> variables() {
    return (List<Map<String, Object>>) JsonValues.of(json);
  }

  /** Adds the tools to the system message, for a template that does not render them. */
  List<Map<String, Object>> withInstructions(List<Map<String, Object>> messages) {
    List<Map<String, Object>> instructed = new ArrayList<>(messages);
    boolean hasSystem = "system".equals(messages.getFirst().get("role"));
    String rest = hasSystem ? "\n\n" + instructed.removeFirst().get("content") : "";
    Map<String, Object> system = new LinkedHashMap<>();
    system.put("role", "system");
    system.put("content", instruction() + rest);
    instructed.addFirst(system);
    return instructed;
  }

  private String instruction() {
    StringBuilder text = new StringBuilder("You may call these functions:\n");
    json.forEach(tool -> text.append(tool).append('\n'));
    return text.append("To call one, write only a JSON object between tags, with its name and its")
        .append(" arguments:\n")
        .append(ToolSyntax.TAGS.open())
        .append("{\"name\": \"...\", \"arguments\": {}}")
        .append(ToolSyntax.TAGS.close())
        .toString();
  }
}
