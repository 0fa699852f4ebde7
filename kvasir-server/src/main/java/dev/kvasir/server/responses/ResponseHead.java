package dev.kvasir.server.responses;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.kvasir.server.api.Fields;
import java.util.List;

/** The fields of a response that repeat the request. */
final class ResponseHead {
  private static final List<String> REPEATED =
      List.of(
          "instructions",
          "max_output_tokens",
          "previous_response_id",
          "temperature",
          "top_p",
          "user",
          "prompt_cache_key");

  private final JsonObject head;

  /**
   * @param model the model name that the client sees
   */
  ResponseHead(String id, long created, String model, Fields request) {
    head = new JsonObject();
    head.addProperty("id", id);
    head.addProperty("object", "response");
    head.addProperty("created_at", created);
    head.addProperty("model", model);
    REPEATED.forEach(name -> head.add(name, request.element(name).orElse(JsonNull.INSTANCE)));
    repeat(request, "background", new JsonPrimitive(false));
    repeat(request, "metadata", new JsonObject());
    repeat(request, "parallel_tool_calls", new JsonPrimitive(true));
    repeat(request, "store", new JsonPrimitive(true));
    repeat(request, "tool_choice", new JsonPrimitive("auto"));
    repeat(request, "tools", new JsonArray());
    repeat(request, "text", text());
    repeat(request, "reasoning", reasoning());
    head.addProperty("service_tier", "default");
    head.addProperty("truncation", "disabled");
  }

  private void repeat(Fields request, String name, JsonElement otherwise) {
    head.add(name, request.element(name).orElse(otherwise));
  }

  private static JsonObject text() {
    JsonObject format = new JsonObject();
    format.addProperty("type", "text");
    JsonObject text = new JsonObject();
    text.add("format", format);
    return text;
  }

  private static JsonObject reasoning() {
    JsonObject reasoning = new JsonObject();
    reasoning.add("effort", JsonNull.INSTANCE);
    reasoning.add("summary", JsonNull.INSTANCE);
    return reasoning;
  }

  /** Returns a copy to which the state of the response can be added. */
  JsonObject copy() {
    return head.deepCopy();
  }
}
