package dev.kvasir.server.responses;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.kvasir.TokenLogprob;
import dev.kvasir.server.api.OutputBlock;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Writes blocks of a completion as output items. The id of an item has the id of its response and
 * its index, by which a later request can refer to it.
 *
 * @param suffix the id of the response without its prefix
 * @param customNames names of custom tools
 * @param sendsEncrypted whether reasoning is also sent as {@code encrypted_content}
 * @param logprobs writes the logprobs of a text
 */
record OutputItems(
    String suffix,
    Set<String> customNames,
    boolean sendsEncrypted,
    Function<List<TokenLogprob>, JsonArray> logprobs) {

  boolean isCustom(OutputBlock block) {
    return block.kind() == OutputBlock.Kind.CALL && customNames.contains(block.name());
  }

  String id(OutputBlock block) {
    String prefix =
        switch (block.kind()) {
          case REASONING -> "rs_";
          case TEXT -> "msg_";
          case CALL -> isCustom(block) ? "ctc_" : "fc_";
        };
    return prefix + suffix + "_" + block.index();
  }

  /** Returns an item that has just begun. */
  JsonObject begun(OutputBlock block) {
    return item(block, "in_progress", "", new JsonArray());
  }

  /** Returns an item with all that is known of it. */
  JsonObject item(OutputBlock block, String status) {
    JsonArray parts = new JsonArray();
    if (block.kind() != OutputBlock.Kind.CALL) {
      parts.add(part(block, block.content()));
    }
    return item(block, status, block.content(), parts);
  }

  private JsonObject item(OutputBlock block, String status, String content, JsonArray parts) {
    JsonObject item = new JsonObject();
    item.addProperty("id", id(block));
    switch (block.kind()) {
      case REASONING -> {
        item.addProperty("type", "reasoning");
        item.add("summary", new JsonArray());
        item.add("content", parts);
        if (sendsEncrypted) {
          byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
          item.addProperty("encrypted_content", Base64.getEncoder().encodeToString(bytes));
        }
      }
      case TEXT -> {
        item.addProperty("type", "message");
        item.addProperty("role", "assistant");
        item.add("content", parts);
      }
      case CALL -> {
        boolean custom = isCustom(block);
        item.addProperty("type", custom ? "custom_tool_call" : "function_call");
        item.addProperty("call_id", block.callId());
        item.addProperty("name", block.name());
        item.addProperty(custom ? "input" : "arguments", custom ? input(content) : content);
      }
    }
    item.addProperty("status", status);
    return item;
  }

  /** Returns the content part of a text or of reasoning. */
  JsonObject part(OutputBlock block, String text) {
    JsonObject part = new JsonObject();
    boolean isReasoning = block.kind() == OutputBlock.Kind.REASONING;
    part.addProperty("type", isReasoning ? "reasoning_text" : "output_text");
    part.addProperty("text", text);
    if (!isReasoning) {
      part.add("annotations", new JsonArray());
      part.add("logprobs", text.isEmpty() ? new JsonArray() : logprobs.apply(block.logprobs()));
    }
    return part;
  }

  /** Returns the text argument of a custom tool; all of the arguments if there is none. */
  static String input(String arguments) {
    try {
      boolean isObject = JsonParser.parseString(arguments) instanceof JsonObject;
      JsonElement input =
          isObject
              ? JsonParser.parseString(arguments).getAsJsonObject().get(ResponseTools.INPUT)
              : null;
      return input != null && input.isJsonPrimitive() ? input.getAsString() : arguments;
    } catch (JsonParseException e) {
      return arguments;
    }
  }
}
