package dev.kvasir.langchain4j;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.internal.JsonSchemaElementUtils;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.request.ResponseFormatType;
import dev.langchain4j.model.chat.request.json.JsonSchema;
import dev.langchain4j.model.chat.request.json.JsonSchemaElement;
import java.util.List;
import java.util.Locale;

/** Converts LangChain4j requests to OpenAI JSON. */
final class RequestJson {
  private static final Gson GSON = new Gson();

  private RequestJson() {}

  static JsonObject of(ChatRequest request) {
    JsonObject json = new JsonObject();
    json.add("messages", MessageJson.of(request.messages()));
    ChatRequestParameters parameters = request.parameters();
    addCommon(json, parameters);
    addTools(json, parameters);
    addFormat(json, parameters.responseFormat());
    if (parameters instanceof KvasirChatRequestParameters own) {
      addOwn(json, own);
    }
    return json;
  }

  private static void addCommon(JsonObject json, ChatRequestParameters parameters) {
    json.addProperty("model", parameters.modelName());
    json.addProperty("temperature", parameters.temperature());
    json.addProperty("top_p", parameters.topP());
    json.addProperty("top_k", parameters.topK());
    json.addProperty("frequency_penalty", parameters.frequencyPenalty());
    json.addProperty("presence_penalty", parameters.presencePenalty());
    json.addProperty("max_completion_tokens", parameters.maxOutputTokens());
    if (!parameters.stopSequences().isEmpty()) {
      json.add("stop", GSON.toJsonTree(parameters.stopSequences()));
    }
  }

  private static void addTools(JsonObject json, ChatRequestParameters parameters) {
    List<ToolSpecification> specifications = parameters.toolSpecifications();
    if (specifications.isEmpty()) {
      return;
    }
    JsonArray tools = new JsonArray();
    specifications.forEach(specification -> tools.add(tool(specification)));
    json.add("tools", tools);
    if (parameters.toolChoice() != null) {
      json.addProperty("tool_choice", parameters.toolChoice().name().toLowerCase(Locale.ROOT));
    }
  }

  private static JsonObject tool(ToolSpecification specification) {
    JsonObject function = new JsonObject();
    function.addProperty("name", specification.name());
    if (specification.description() != null) {
      function.addProperty("description", specification.description());
    }
    function.add("parameters", parameters(specification));
    JsonObject tool = new JsonObject();
    tool.addProperty("type", "function");
    tool.add("function", function);
    return tool;
  }

  /** Returns the parameters' schema; an empty object schema for a function without parameters. */
  private static JsonElement parameters(ToolSpecification specification) {
    if (specification.parameters() != null) {
      return schema(specification.parameters());
    }
    JsonObject none = new JsonObject();
    none.addProperty("type", "object");
    none.add("properties", new JsonObject());
    return none;
  }

  private static JsonElement schema(JsonSchemaElement element) {
    return GSON.toJsonTree(JsonSchemaElementUtils.toMap(element));
  }

  private static void addFormat(JsonObject json, ResponseFormat format) {
    if (format == null || format.type() == ResponseFormatType.TEXT) {
      return;
    }
    JsonObject wanted = new JsonObject();
    JsonSchema schema = format.jsonSchema();
    wanted.addProperty("type", schema == null ? "json_object" : "json_schema");
    if (schema != null) {
      JsonObject named = new JsonObject();
      named.addProperty("name", schema.name());
      named.add("schema", schema(schema.rootElement()));
      wanted.add("json_schema", named);
    }
    json.add("response_format", wanted);
  }

  private static void addOwn(JsonObject json, KvasirChatRequestParameters own) {
    json.addProperty("seed", own.seed());
    json.addProperty("min_p", own.minP());
    json.addProperty("kv", own.kv());
    json.addProperty("prompt_cache_key", own.conversation());
    if (own.answerChoices() != null) {
      JsonObject outputs = new JsonObject();
      outputs.add("choice", GSON.toJsonTree(own.answerChoices()));
      json.add("structured_outputs", outputs);
    }
  }
}
