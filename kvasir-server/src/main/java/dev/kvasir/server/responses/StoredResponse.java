package dev.kvasir.server.responses;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.List;

/**
 * A finished response with its conversation.
 *
 * @param response as its client received it
 * @param earlier items of earlier responses
 * @param input items of its request
 */
public record StoredResponse(
    JsonObject response, List<JsonObject> earlier, List<JsonObject> input) {
  /** Returns all items, the output of the response included. */
  List<JsonObject> conversation() {
    List<JsonObject> all = new ArrayList<>(earlier);
    all.addAll(input);
    all.addAll(list(response.get("output")));
    return all;
  }

  private static List<JsonObject> list(JsonElement array) {
    return array.getAsJsonArray().asList().stream().map(JsonElement::getAsJsonObject).toList();
  }

  String json() {
    JsonObject all = new JsonObject();
    all.add("response", response);
    all.add("earlier", array(earlier));
    all.add("input", array(input));
    return all.toString();
  }

  static JsonArray array(List<JsonObject> items) {
    JsonArray array = new JsonArray();
    items.forEach(array::add);
    return array;
  }

  static StoredResponse parse(String json) {
    JsonObject all = JsonParser.parseString(json).getAsJsonObject();
    return new StoredResponse(
        all.getAsJsonObject("response"), list(all.get("earlier")), list(all.get("input")));
  }
}
