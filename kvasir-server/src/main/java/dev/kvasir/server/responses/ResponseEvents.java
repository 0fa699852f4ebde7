package dev.kvasir.server.responses;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.TokenLogprob;
import dev.kvasir.server.api.OutputBlock;
import dev.kvasir.server.api.OutputBlocks;
import dev.kvasir.server.api.StreamEvent;
import java.util.ArrayList;
import java.util.List;

/**
 * Collects the stream events of a response with ascending sequence numbers. A custom tool's input
 * is inside JSON, so it is sent whole at its end.
 */
final class ResponseEvents implements OutputBlocks.Listener {
  private final OutputItems items;
  private final List<StreamEvent> pending = new ArrayList<>();
  private int sequence;

  ResponseEvents(OutputItems items) {
    this.items = items;
  }

  /** Returns the events since the last call. */
  List<StreamEvent> drain() {
    List<StreamEvent> events = List.copyOf(pending);
    pending.clear();
    return events;
  }

  void add(String type, String field, JsonObject value) {
    JsonObject event = new JsonObject();
    event.add(field, value);
    send(type, event);
  }

  private void send(String type, JsonObject event) {
    event.addProperty("type", type);
    event.addProperty("sequence_number", sequence++);
    pending.add(StreamEvent.of(type, event));
  }

  @Override
  public void opened(OutputBlock block) {
    JsonObject event = at(block, false);
    event.add("item", items.begun(block));
    send("response.output_item.added", event);
    if (block.kind() != OutputBlock.Kind.CALL) {
      JsonObject part = at(block, true);
      part.add("part", items.part(block, ""));
      send("response.content_part.added", part);
    }
  }

  /** Returns an event of an item, or of its only content part. */
  private JsonObject at(OutputBlock block, boolean ofPart) {
    JsonObject event = new JsonObject();
    event.addProperty("output_index", block.index());
    if (ofPart) {
      event.addProperty("content_index", 0);
    }
    return event;
  }

  private JsonObject inside(OutputBlock block) {
    JsonObject event = at(block, block.kind() != OutputBlock.Kind.CALL);
    event.addProperty("item_id", items.id(block));
    return event;
  }

  private String type(OutputBlock block) {
    return switch (block.kind()) {
      case REASONING -> "response.reasoning_text";
      case TEXT -> "response.output_text";
      case CALL ->
          items.isCustom(block)
              ? "response.custom_tool_call_input"
              : "response.function_call_arguments";
    };
  }

  @Override
  public void extended(OutputBlock block, String piece, List<TokenLogprob> logprobs) {
    if (!items.isCustom(block)) {
      delta(block, piece, logprobs);
    }
  }

  private void delta(OutputBlock block, String piece, List<TokenLogprob> logprobs) {
    JsonObject event = inside(block);
    event.addProperty("delta", piece);
    if (block.kind() == OutputBlock.Kind.TEXT) {
      event.add(
          "logprobs", logprobs.isEmpty() ? new JsonArray() : items.logprobs().apply(logprobs));
    }
    send(type(block) + ".delta", event);
  }

  @Override
  public void closed(OutputBlock block) {
    JsonObject event = inside(block);
    switch (block.kind()) {
      case REASONING -> event.addProperty("text", block.content());
      case TEXT -> {
        event.addProperty("text", block.content());
        event.add("logprobs", items.logprobs().apply(block.logprobs()));
      }
      case CALL -> callEnd(block, event);
    }
    send(type(block) + ".done", event);
    if (block.kind() != OutputBlock.Kind.CALL) {
      JsonObject part = inside(block);
      part.add("part", items.part(block, block.content()));
      send("response.content_part.done", part);
    }
    JsonObject item = at(block, false);
    item.add("item", items.item(block, block.isComplete() ? "completed" : "incomplete"));
    send("response.output_item.done", item);
  }

  private void callEnd(OutputBlock block, JsonObject event) {
    if (items.isCustom(block)) {
      String input = OutputItems.input(block.content());
      delta(block, input, List.of());
      event.addProperty("input", input);
    } else {
      event.addProperty("name", block.name());
      event.addProperty("arguments", block.content());
    }
  }
}
