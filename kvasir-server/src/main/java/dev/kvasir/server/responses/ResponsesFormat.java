package dev.kvasir.server.responses;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import dev.kvasir.ChatResponse.FinishReason;
import dev.kvasir.TokenLogprob;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.chat.Ids;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.OutputBlock;
import dev.kvasir.server.api.OutputBlocks;
import dev.kvasir.server.api.ResponseFormat;
import dev.kvasir.server.api.StreamEvent;
import dev.kvasir.server.openai.Logprobs;
import dev.kvasir.server.responses.ResponsesReader.Translated;
import dev.kvasir.text.Tokenizer;
import java.util.List;

/**
 * Writes a response of the Responses API and stores it if its client wants that. Thread-safe, since
 * other requests may ask for the response or cancel it.
 */
public final class ResponsesFormat implements ResponseFormat, ResponseStore.InProgress {
  private final String id = Ids.newId("resp_");
  private final Translated translated;
  private final String tenant;
  private final ResponseStore store;
  private final Tokenizer tokenizer;
  private final ResponseHead head;
  private final OutputItems items;
  private final ResponseEvents events;
  private final OutputBlocks blocks;
  private Runnable cancel = () -> {};
  private int promptTokens;
  private CompletionEvent.Done done; // null until the end
  private String status = "queued";
  private ApiException error; // null unless it failed
  private boolean cancelled;

  /**
   * @param model the model name that the client sees
   */
  public ResponsesFormat(
      Translated translated,
      String tenant,
      String model,
      Tokenizer tokenizer,
      ResponseStore store) {
    this.translated = translated;
    this.tenant = tenant;
    this.store = store;
    this.tokenizer = tokenizer;
    this.head =
        new ResponseHead(id, System.currentTimeMillis() / 1000, model, translated.request());
    this.items =
        new OutputItems(
            id.substring(id.indexOf('_') + 1),
            translated.tools().customNames(),
            ResponsesReader.includes(translated.request(), "reasoning.encrypted_content"),
            this::logprobs);
    this.events = new ResponseEvents(items);
    this.blocks = new OutputBlocks(events);
    store.started(tenant, id, this);
  }

  private JsonArray logprobs(List<TokenLogprob> tokens) {
    return Logprobs.ofChat(tokens, tokenizer).getAsJsonArray("content");
  }

  public String id() {
    return id;
  }

  /** Returns whether the response was cancelled before it started. */
  public synchronized boolean isCancelled() {
    return cancelled;
  }

  @Override
  public synchronized List<StreamEvent> begin(int tokens, Runnable canceller) {
    promptTokens = tokens;
    cancel = canceller;
    if (cancelled) {
      cancel.run();
    } else {
      status = "in_progress";
    }
    events.add("response.created", "response", snapshot());
    events.add("response.in_progress", "response", snapshot());
    return events.drain();
  }

  @Override
  public synchronized List<StreamEvent> events(CompletionEvent event) {
    if (event instanceof CompletionEvent.Done last) {
      done = last;
    }
    blocks.accept(event);
    return events.drain();
  }

  @Override
  public synchronized List<StreamEvent> end() {
    JsonObject response = build();
    String name = status.equals("completed") ? "response.completed" : "response.incomplete";
    events.add(name, "response", response);
    return events.drain();
  }

  @Override
  public synchronized List<StreamEvent> fail(ApiException why) {
    blocks.close();
    error = why;
    status = "failed";
    events.add("response.failed", "response", finish());
    return events.drain();
  }

  @Override
  public synchronized JsonObject build() {
    boolean isComplete = done != null && done.finishReason() != FinishReason.LENGTH;
    status = cancelled ? "cancelled" : isComplete ? "completed" : "incomplete";
    return finish();
  }

  private JsonObject finish() {
    JsonObject response = snapshot();
    boolean stores =
        !translated.request().json().has("store") || translated.request().isTrue("store");
    if (stores) {
      List<JsonObject> all = translated.conversation();
      int earlier = all.size() - translated.input().size();
      store.add(
          tenant, id, new StoredResponse(response, all.subList(0, earlier), translated.input()));
    }
    store.ended(tenant, id);
    return response;
  }

  @Override
  public synchronized void cancel() {
    if (status.equals("queued") || status.equals("in_progress")) {
      cancelled = true;
      status = "cancelled";
      cancel.run();
    }
  }

  @Override
  public synchronized JsonObject snapshot() {
    JsonObject response = head.copy();
    response.addProperty("status", status);
    response.add("error", error == null ? JsonNull.INSTANCE : errorJson());
    response.add(
        "incomplete_details", status.equals("incomplete") ? incomplete() : JsonNull.INSTANCE);
    JsonArray output = new JsonArray();
    for (OutputBlock block : blocks.blocks()) {
      boolean cut = !block.isComplete() || status.equals("incomplete") && isLast(block);
      output.add(items.item(block, cut ? cutStatus(block) : "completed"));
    }
    response.add("output", output);
    response.add("usage", done == null ? JsonNull.INSTANCE : usage());
    return response;
  }

  private boolean isLast(OutputBlock block) {
    return block.index() == blocks.blocks().size() - 1;
  }

  private String cutStatus(OutputBlock block) {
    return block.isClosed() || !status.equals("in_progress") ? "incomplete" : status;
  }

  private static JsonObject incomplete() {
    JsonObject details = new JsonObject();
    details.addProperty("reason", "max_output_tokens");
    return details;
  }

  private JsonObject errorJson() {
    JsonObject json = new JsonObject();
    json.addProperty("code", error.status() == 429 ? "rate_limit_exceeded" : "server_error");
    json.addProperty("message", error.getMessage());
    return json;
  }

  private JsonObject usage() {
    int output = done.generation().generatedTokens();
    JsonObject inputDetails = new JsonObject();
    inputDetails.addProperty("cached_tokens", done.prefixHit().tokens());
    JsonObject outputDetails = new JsonObject();
    outputDetails.addProperty(
        "reasoning_tokens", tokenizer.encode(blocks.reasoning(), false).length);
    JsonObject usage = new JsonObject();
    usage.addProperty("input_tokens", promptTokens);
    usage.add("input_tokens_details", inputDetails);
    usage.addProperty("output_tokens", output);
    usage.add("output_tokens_details", outputDetails);
    usage.addProperty("total_tokens", promptTokens + output);
    return usage;
  }
}
