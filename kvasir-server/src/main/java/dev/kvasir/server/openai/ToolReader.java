package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.chat.ToolSet;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the functions that a request lets the model call. */
final class ToolReader {
  private ToolReader() {}

  static ToolSet read(Fields request) {
    Optional<JsonArray> list = request.array("tools").filter(tools -> !tools.isEmpty());
    Optional<JsonElement> choice = request.element("tool_choice");
    if (list.isEmpty() || choice.filter(ToolReader::isNone).isPresent()) {
      return ToolSet.NONE;
    }
    List<ToolSet.Function> functions = new ArrayList<>();
    for (int i = 0; i < list.get().size(); i++) {
      functions.add(function(request, list.get().get(i), "tools[%d]".formatted(i)));
    }
    List<String> definitions = list.get().asList().stream().map(JsonElement::toString).toList();
    ToolSet all = new ToolSet(functions, definitions, false).withParallelCalls(isParallel(request));
    return choice.map(wanted -> choose(request, all, wanted)).orElse(all);
  }

  private static boolean isParallel(Fields request) {
    return request.element("parallel_tool_calls").isEmpty()
        || request.isTrue("parallel_tool_calls");
  }

  private static boolean isNone(JsonElement choice) {
    return choice.isJsonPrimitive() && choice.getAsString().equals("none");
  }

  private static ToolSet.Function function(Fields request, JsonElement tool, String path) {
    if (!tool.isJsonObject()
        || !(tool.getAsJsonObject().get("function") instanceof JsonObject function)) {
      throw request.wrong(path, tool, "an object of type function");
    }
    Fields fields = Fields.of(function, path + ".function");
    String name =
        fields.string("name").orElseThrow(() -> fields.missing("name", "the function's name"));
    JsonObject schema =
        fields.object("parameters").map(Fields::json).orElseGet(ToolReader::anySchema);
    return new ToolSet.Function(name, schema.toString());
  }

  private static JsonObject anySchema() {
    JsonObject schema = new JsonObject();
    schema.addProperty("type", "object");
    return schema;
  }

  private static ToolSet choose(Fields request, ToolSet all, JsonElement wanted) {
    if (wanted.isJsonObject()) {
      String name =
          Fields.of(wanted.getAsJsonObject(), "tool_choice")
              .object("function")
              .flatMap(function -> function.string("name"))
              .orElseThrow(() -> request.wrong("tool_choice", wanted, "the name of a function"));
      return only(all, name);
    }
    return switch (wanted.getAsString()) {
      case "auto" -> all;
      case "required" -> new ToolSet(all.functions(), all.definitions(), true, all.isParallel());
      default -> throw request.wrong("tool_choice", wanted, "none, auto, required or a function");
    };
  }

  private static ToolSet only(ToolSet all, String name) {
    ToolSet named = all.requiring(name);
    if (named.isEmpty()) {
      throw ApiException.invalidField(
          "tool_choice",
          "tool_choice is '%s'; the tools are %s"
              .formatted(name, all.functions().stream().map(ToolSet.Function::name).toList()));
    }
    return named;
  }
}
