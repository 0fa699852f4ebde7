package dev.kvasir.chat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.ChatRequest;
import dev.kvasir.ChatRequest.ToolChoice;
import dev.kvasir.Tool;
import dev.kvasir.chat.syntax.CallableFunctions;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import dev.kvasir.format.JsonValues;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The functions that a request lets the model call.
 *
 * @param functions the functions that may be called
 * @param definitions JSON objects of all tools in the form of the OpenAI API, which templates use
 * @param isRequired whether a call is required
 * @param isParallel whether a completion may have several calls
 */
public record ToolSet(
    List<Function> functions, List<String> definitions, boolean isRequired, boolean isParallel) {
  public static final ToolSet NONE = new ToolSet(List.of(), List.of(), false);

  /**
   * @param schema a JSON Schema of the arguments, as JSON text
   */
  public record Function(String name, String schema) {}

  public ToolSet {
    functions = List.copyOf(functions);
    definitions = List.copyOf(definitions);
  }

  /** Creates a set of which a completion may call several. */
  public ToolSet(List<Function> functions, List<String> definitions, boolean isRequired) {
    this(functions, definitions, isRequired, true);
  }

  /**
   * @throws InvalidInputException if the parameters of a tool are not a JSON object
   */
  public static ToolSet of(List<Tool> tools, ToolChoice choice) {
    return tools.isEmpty() || choice == ToolChoice.NONE
        ? NONE
        : new ToolSet(
            tools.stream().map(tool -> new Function(tool.name(), tool.parameters())).toList(),
            tools.stream().map(ToolSet::definition).toList(),
            choice == ToolChoice.REQUIRED);
  }

  /**
   * Returns the tools of a request.
   *
   * @throws InvalidInputException if the parameters of a tool are not a JSON object
   */
  public static ToolSet of(ChatRequest request) {
    ToolSet all =
        of(request.tools(), request.toolChoice()).withParallelCalls(request.parallelToolCalls());
    return request.requiredTool().map(all::requiring).orElse(all);
  }

  public ToolSet withParallelCalls(boolean value) {
    return new ToolSet(functions, definitions, isRequired, value);
  }

  /** Returns the same tools, of which this one must be called. */
  public ToolSet requiring(String name) {
    List<Function> named = functions.stream().filter(f -> f.name().equals(name)).toList();
    return new ToolSet(named, definitions, true, isParallel);
  }

  private static String definition(Tool tool) {
    JsonObject function = new JsonObject();
    function.addProperty("name", tool.name());
    if (!tool.description().isEmpty()) {
      function.addProperty("description", tool.description());
    }
    function.add("parameters", parse(tool.name(), tool.parameters()));
    JsonObject definition = new JsonObject();
    definition.addProperty("type", "function");
    definition.add("function", function);
    return definition.toString();
  }

  /** Parses the schema of a function's arguments. */
  static JsonObject parse(String function, String schema) {
    return JsonFile.parse("the parameters of the tool " + function, schema).root();
  }

  public boolean isEmpty() {
    return functions.isEmpty();
  }

  CallableFunctions callable() {
    Map<String, String> schemas = new LinkedHashMap<>();
    functions.forEach(function -> schemas.put(function.name(), function.schema()));
    return new CallableFunctions(schemas, isParallel);
  }

  /** Returns the tools in the form that chat templates use. */
  @SuppressWarnings("unchecked") // every definition is a JSON object
  List<Map<String, Object>> variables() {
    JsonArray all = new JsonArray();
    definitions.forEach(definition -> all.add(JsonParser.parseString(definition)));
    return (List<Map<String, Object>>) JsonValues.of(all);
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
    definitions.forEach(tool -> text.append(tool).append('\n'));
    return text.append("To call one, write only a JSON object between tags, with its name and its")
        .append(" arguments:\n")
        .append("<tool_call>{\"name\": \"...\", \"arguments\": {}}</tool_call>")
        .toString();
  }
}
