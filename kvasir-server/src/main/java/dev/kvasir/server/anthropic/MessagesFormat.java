package dev.kvasir.server.anthropic;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.kvasir.TokenLogprob;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.chat.Ids;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.OutputBlock;
import dev.kvasir.server.api.OutputBlocks;
import dev.kvasir.server.api.ResponseFormat;
import dev.kvasir.server.api.StreamEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Writes a message of the Messages API. */
public final class MessagesFormat implements ResponseFormat, OutputBlocks.Listener {
  /** Clients drop thinking without a signature; the server ignores it when it comes back. */
  private static final String SIGNATURE = "kvasir";

  private final String id = Ids.newId("msg_");
  private final String model;
  private final List<String> stopSequences;
  private final OutputBlocks blocks = new OutputBlocks(this);
  private final List<StreamEvent> pending = new ArrayList<>();
  private int promptTokens;
  private CompletionEvent.Done done; // null until the end

  /**
   * @param model the model name that the client sees
   * @param stopSequences those of the request
   */
  public MessagesFormat(String model, List<String> stopSequences) {
    this.model = model;
    this.stopSequences = List.copyOf(stopSequences);
  }

  @Override
  public List<StreamEvent> begin(int tokens, Runnable cancel) {
    promptTokens = tokens;
    JsonObject event = new JsonObject();
    event.add("message", message(new JsonArray()));
    send("message_start", event);
    return drain();
  }

  private void send(String type, JsonObject event) {
    event.addProperty("type", type);
    pending.add(StreamEvent.of(type, event));
  }

  private List<StreamEvent> drain() {
    List<StreamEvent> events = List.copyOf(pending);
    pending.clear();
    return events;
  }

  @Override
  public List<StreamEvent> events(CompletionEvent event) {
    if (event instanceof CompletionEvent.Done last) {
      done = last;
    }
    blocks.accept(event);
    return drain();
  }

  @Override
  public void opened(OutputBlock block) {
    sendBlock("content_block_start", block, "content_block", content(block, "", new JsonObject()));
  }

  @Override
  public void extended(OutputBlock block, String piece, List<TokenLogprob> logprobs) {
    switch (block.kind()) {
      case TEXT -> delta(block, "text_delta", "text", piece);
      case REASONING -> delta(block, "thinking_delta", "thinking", piece);
      case CALL -> delta(block, "input_json_delta", "partial_json", piece);
    }
  }

  private void delta(OutputBlock block, String type, String field, String piece) {
    JsonObject delta = new JsonObject();
    delta.addProperty("type", type);
    delta.addProperty(field, piece);
    sendBlock("content_block_delta", block, "delta", delta);
  }

  @Override
  public void closed(OutputBlock block) {
    if (block.kind() == OutputBlock.Kind.REASONING) {
      delta(block, "signature_delta", "signature", SIGNATURE);
    }
    JsonObject event = new JsonObject();
    event.addProperty("index", block.index());
    send("content_block_stop", event);
  }

  private void sendBlock(String type, OutputBlock block, String field, JsonObject value) {
    JsonObject event = new JsonObject();
    event.addProperty("index", block.index());
    event.add(field, value);
    send(type, event);
  }

  @Override
  public List<StreamEvent> end() {
    JsonObject delta = new JsonObject();
    addStop(delta);
    JsonObject event = new JsonObject();
    event.add("delta", delta);
    event.add("usage", usage());
    send("message_delta", event);
    send("message_stop", new JsonObject());
    return drain();
  }

  @Override
  public List<StreamEvent> fail(ApiException why) {
    return List.of(StreamEvent.of("error", MessagesError.json(why)));
  }

  @Override
  public Optional<StreamEvent> keepAlive() {
    JsonObject ping = new JsonObject();
    ping.addProperty("type", "ping");
    return Optional.of(StreamEvent.of("ping", ping));
  }

  @Override
  public JsonObject build() {
    JsonArray content = new JsonArray();
    for (OutputBlock block : blocks.blocks()) {
      content.add(content(block, block.content(), input(block.content())));
    }
    return message(content);
  }

  private static JsonObject content(OutputBlock block, String text, JsonElement input) {
    JsonObject content = new JsonObject();
    switch (block.kind()) {
      case TEXT -> {
        content.addProperty("type", "text");
        content.addProperty("text", text);
      }
      case REASONING -> {
        content.addProperty("type", "thinking");
        content.addProperty("thinking", text);
        content.addProperty("signature", text.isEmpty() ? "" : SIGNATURE);
      }
      case CALL -> {
        content.addProperty("type", "tool_use");
        content.addProperty("id", block.callId());
        content.addProperty("name", block.name());
        content.add("input", input);
      }
    }
    return content;
  }

  /** Returns the arguments of a call; an empty object if they are cut off. */
  private static JsonElement input(String arguments) {
    try {
      JsonElement parsed = JsonParser.parseString(arguments);
      return parsed.isJsonObject() ? parsed : new JsonObject();
    } catch (JsonParseException e) {
      return new JsonObject();
    }
  }

  private JsonObject message(JsonArray content) {
    JsonObject message = new JsonObject();
    message.addProperty("id", id);
    message.addProperty("type", "message");
    message.addProperty("role", "assistant");
    message.addProperty("model", model);
    message.add("content", content);
    addStop(message);
    message.add("usage", usage());
    return message;
  }

  private void addStop(JsonObject object) {
    Optional<String> stop =
        done == null ? Optional.empty() : done.stopSequence().filter(stopSequences::contains);
    if (done == null) {
      object.add("stop_reason", JsonNull.INSTANCE);
    } else {
      object.addProperty("stop_reason", stop.isPresent() ? "stop_sequence" : reason());
    }
    object.addProperty("stop_sequence", stop.orElse(null));
  }

  private String reason() {
    return switch (done.finishReason()) {
      case LENGTH -> "max_tokens";
      case TOOL_CALLS -> "tool_use";
      default -> "end_turn";
    };
  }

  /** Counts as the API does: prompt tokens from the cache are not input tokens. */
  private JsonObject usage() {
    int cached = done == null ? 0 : done.prefixHit().tokens();
    JsonObject usage = new JsonObject();
    usage.addProperty("input_tokens", promptTokens - cached);
    usage.addProperty("cache_creation_input_tokens", 0);
    usage.addProperty("cache_read_input_tokens", cached);
    usage.addProperty("output_tokens", done == null ? 0 : done.generation().generatedTokens());
    return usage;
  }
}
