package dev.kvasir.server.responses;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Translates requests of the Responses API to requests of chat completions. */
public final class ResponsesReader {
  private final ResponseStore store;

  public ResponsesReader(ResponseStore store) {
    this.store = store;
  }

  /**
   * A request of the Responses API.
   *
   * @param chat the same request in the form of chat completions
   * @param conversation all items, those of earlier responses included
   * @param input the items of this request
   */
  public record Translated(
      Fields request,
      Fields chat,
      List<JsonObject> conversation,
      List<JsonObject> input,
      ResponseTools tools) {}

  /**
   * @param tenant whose stored responses the request may continue
   */
  public Translated read(Fields request, String tenant) {
    for (String unsupported : List.of("conversation", "prompt")) {
      request
          .element(unsupported)
          .ifPresent(
              given -> {
                throw request.wrong(
                    unsupported, given, "none; previous_response_id continues a conversation");
              });
    }
    List<JsonObject> input = InputItems.of(request);
    List<JsonObject> conversation = new ArrayList<>(previous(request, tenant));
    conversation.addAll(input);
    ResponseTools tools = ResponseTools.read(request);
    JsonObject chat = common(request);
    chat.add(
        "messages",
        InputItems.messages(
            request.string("instructions").orElse(""),
            conversation,
            id -> store.item(tenant, id).orElseThrow(() -> InputItems.unknownReference(id))));
    chat.add("tools", tools.tools());
    tools.choice().ifPresent(choice -> chat.add("tool_choice", choice));
    return new Translated(request, Fields.of(chat), conversation, input, tools);
  }

  private List<JsonObject> previous(Fields request, String tenant) {
    Optional<String> id = request.string("previous_response_id");
    return id.map(
            known ->
                store
                    .find(tenant, known)
                    .map(StoredResponse::conversation)
                    .orElseThrow(
                        () ->
                            ApiException.notFoundField(
                                "previous_response_id",
                                "there is no stored response '%s'".formatted(known))))
        .orElse(List.of());
  }

  /** Returns the fields that both APIs share, with those renamed that differ in name only. */
  private static JsonObject common(Fields request) {
    JsonObject chat = request.json().deepCopy();
    for (String own :
        List.of("input", "instructions", "tools", "tool_choice", "text", "reasoning", "n")) {
      chat.remove(own);
    }
    request
        .integer("max_output_tokens", 1, Integer.MAX_VALUE)
        .ifPresent(tokens -> chat.addProperty("max_completion_tokens", tokens));
    request
        .object("reasoning")
        .flatMap(reasoning -> reasoning.string("effort"))
        .ifPresent(effort -> chat.addProperty("reasoning_effort", effort));
    request
        .object("text")
        .flatMap(text -> text.object("format"))
        .ifPresent(format -> chat.add("response_format", responseFormat(format)));
    if (includes(request, "message.output_text.logprobs")) {
      chat.addProperty("logprobs", true);
    }
    return chat;
  }

  static boolean includes(Fields request, String wanted) {
    JsonArray included = request.array("include").orElseGet(JsonArray::new);
    return included.asList().stream()
        .anyMatch(each -> each.isJsonPrimitive() && each.getAsString().equals(wanted));
  }

  /** Moves the schema one level down, where chat completions have it. */
  private static JsonElement responseFormat(Fields format) {
    if (!format.string("type").orElse("text").equals("json_schema")) {
      return format.json();
    }
    JsonObject named = format.json().deepCopy();
    named.remove("type");
    JsonObject moved = new JsonObject();
    moved.addProperty("type", "json_schema");
    moved.add("json_schema", named);
    return moved;
  }
}
