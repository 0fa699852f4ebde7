package dev.kvasir.spring;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.StructuredOutputChatOptions;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;

/** Converts Spring AI prompts to OpenAI JSON. */
final class PromptJson {
  private static final Gson GSON = new Gson();

  private PromptJson() {}

  static JsonObject of(Prompt prompt) {
    JsonObject json = new JsonObject();
    json.add("messages", SpringMessageJson.of(prompt.getInstructions()));
    ChatOptions options = prompt.getOptions();
    addCommon(json, options);
    if (options instanceof ToolCallingChatOptions calling) {
      addTools(json, calling.getToolCallbacks());
    }
    if (options instanceof StructuredOutputChatOptions structured) {
      addSchema(json, structured.getOutputSchema());
    }
    if (options instanceof KvasirChatOptions own) {
      addOwn(json, own);
    }
    return json;
  }

  private static void addCommon(JsonObject json, ChatOptions options) {
    json.addProperty("model", options.getModel());
    json.addProperty("temperature", options.getTemperature());
    json.addProperty("top_p", options.getTopP());
    json.addProperty("top_k", options.getTopK());
    json.addProperty("frequency_penalty", options.getFrequencyPenalty());
    json.addProperty("presence_penalty", options.getPresencePenalty());
    json.addProperty("max_completion_tokens", options.getMaxTokens());
    if (options.getStopSequences() != null) {
      json.add("stop", GSON.toJsonTree(options.getStopSequences()));
    }
  }

  private static void addTools(JsonObject json, List<ToolCallback> callbacks) {
    if (callbacks == null || callbacks.isEmpty()) {
      return;
    }
    JsonArray tools = new JsonArray();
    callbacks.forEach(callback -> tools.add(tool(callback.getToolDefinition())));
    json.add("tools", tools);
  }

  private static JsonObject tool(ToolDefinition definition) {
    JsonObject function = new JsonObject();
    function.addProperty("name", definition.name());
    function.addProperty("description", definition.description());
    function.add("parameters", JsonParser.parseString(definition.inputSchema()));
    JsonObject tool = new JsonObject();
    tool.addProperty("type", "function");
    tool.add("function", function);
    return tool;
  }

  private static void addSchema(JsonObject json, String schema) {
    if (schema == null) {
      return;
    }
    JsonObject named = new JsonObject();
    named.addProperty("name", "answer");
    named.add("schema", JsonParser.parseString(schema));
    JsonObject format = new JsonObject();
    format.addProperty("type", "json_schema");
    format.add("json_schema", named);
    json.add("response_format", format);
  }

  private static void addOwn(JsonObject json, KvasirChatOptions own) {
    json.addProperty("seed", own.seed());
    json.addProperty("min_p", own.minP());
    json.addProperty("kv", own.kv());
    json.addProperty("prompt_cache_key", own.conversation());
    json.addProperty("tool_choice", own.toolChoice());
    if (own.answerChoices() != null) {
      JsonObject outputs = new JsonObject();
      outputs.add("choice", GSON.toJsonTree(own.answerChoices()));
      json.add("structured_outputs", outputs);
    }
  }
}
