package dev.kvasir.server.http;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.chat.RequestQueue;
import dev.kvasir.chat.ServedModel;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.server.openai.TokenIds;
import dev.kvasir.text.Tokenizer;
import java.io.IOException;
import java.util.List;

/** Describes the model, and encodes and decodes its tokens. */
final class ModelEndpoints {
  static final String MODELS = "/v1/models/";
  static final String ID = "id";

  private final ServedModel served;
  private final RequestQueue queue;
  private final int slots;

  /**
   * @param slots sequences that run concurrently
   */
  ModelEndpoints(ServedModel served, RequestQueue queue, int slots) {
    this.served = served;
    this.queue = queue;
    this.slots = slots;
  }

  void addTo(Router router) {
    router
        .add("GET", "/v1/models", this::models)
        .add("GET", "/models", this::models)
        .add("GET", MODELS, this::model)
        .add("GET", "/props", this::props)
        .add("GET", "/slots", this::slots)
        .add("POST", "/tokenize", this::tokenize)
        .add("POST", "/detokenize", this::detokenize);
  }

  private Tokenizer tokenizer() {
    return served.model().tokenizer();
  }

  private void models(Exchange exchange) throws IOException {
    exchange.json(200, list(all()));
  }

  /** Returns the response that lists models. */
  static JsonObject list(List<JsonObject> models) {
    JsonArray data = new JsonArray();
    models.forEach(data::add);
    JsonObject body = new JsonObject();
    body.addProperty("object", "list");
    body.add("data", data);
    return body;
  }

  /** Returns the model, once per cache that requests may select. */
  List<JsonObject> all() {
    return served.names().stream().map(this::model).toList();
  }

  private void model(Exchange exchange) throws IOException {
    exchange.json(200, named(exchange.after(MODELS), all()));
  }

  /**
   * @throws ApiException if there is none of this name
   */
  static JsonObject named(String name, List<JsonObject> models) {
    return models.stream()
        .filter(model -> model.get(ID).getAsString().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                ApiException.notFound(
                    "there is no such model; there are %s"
                        .formatted(
                            models.stream().map(each -> each.get(ID).getAsString()).toList())));
  }

  /** Returns what can be said of a model that is not loaded. */
  static JsonObject unloaded(String name) {
    JsonObject model = new JsonObject();
    model.addProperty(ID, name);
    model.addProperty("object", "model");
    model.addProperty("type", "model");
    model.addProperty("created", 0);
    model.addProperty("created_at", "1970-01-01T00:00:00Z");
    model.addProperty("owned_by", "kvasir");
    model.addProperty("display_name", name);
    return model;
  }

  /** The field max_model_len is vLLM's, meta is llama.cpp's, display_name is Anthropic's. */
  private JsonObject model(String name) {
    JsonObject meta = new JsonObject();
    meta.addProperty("n_vocab", served.model().config().vocabulary());
    meta.addProperty("n_ctx_train", served.model().config().contextLength());
    JsonArray capabilities = new JsonArray();
    capabilities().forEach(capabilities::add);
    JsonObject model = unloaded(name);
    model.addProperty("display_name", served.model().config().name());
    model.addProperty("context_length", served.contextLimit());
    model.addProperty("max_model_len", served.contextLimit());
    model.add("capabilities", capabilities);
    model.add("meta", meta);
    return model;
  }

  private List<String> capabilities() {
    return served.isChatModel()
        ? List.of("completion", "structured_outputs", "tools", "chat")
        : List.of("completion", "structured_outputs", "tools");
  }

  private void props(Exchange exchange) throws IOException {
    JsonObject settings = new JsonObject();
    settings.addProperty("n_ctx", served.contextLimit());
    settings.add("params", new JsonObject());
    JsonObject modalities = new JsonObject();
    modalities.addProperty("vision", false);
    modalities.addProperty("audio", false);
    JsonObject body = new JsonObject();
    body.add("default_generation_settings", settings);
    body.addProperty("total_slots", slots);
    body.addProperty("model_alias", served.name());
    body.addProperty("model_path", served.name());
    body.add("modalities", modalities);
    body.addProperty("chat_template", tokenizer().chatTemplate().orElse(""));
    body.addProperty("bos_token", tokenizer().bosText().orElse(""));
    body.addProperty("eos_token", tokenizer().eosText().orElse(""));
    body.addProperty("build_info", "kvasir");
    exchange.json(200, body);
  }

  /** A sequence has no fixed slot here; the first ones count as busy. */
  private void slots(Exchange exchange) throws IOException {
    List<RequestQueue.Running> running = queue.running();
    JsonArray all = new JsonArray();
    for (int i = 0; i < Math.max(slots, running.size()); i++) {
      JsonObject slot = new JsonObject();
      slot.addProperty("id", i);
      slot.addProperty("n_ctx", served.contextLimit());
      slot.addProperty("is_processing", i < running.size());
      if (i < running.size()) {
        slot.addProperty("n_past", running.get(i).cacheUsage().tokens());
      }
      all.add(slot);
    }
    exchange.json(200, all);
  }

  private void tokenize(Exchange exchange) throws IOException {
    Fields request = exchange.body();
    String content =
        request.string("content").orElseThrow(() -> request.missing("content", "a text"));
    JsonArray tokens = new JsonArray();
    for (int id : tokenizer().encode(content, request.isTrue("add_special"))) {
      tokens.add(id);
    }
    JsonObject body = new JsonObject();
    body.add("tokens", tokens);
    exchange.json(200, body);
  }

  private void detokenize(Exchange exchange) throws IOException {
    Fields request = exchange.body();
    JsonArray tokens =
        request.array("tokens").orElseThrow(() -> request.missing("tokens", "a list of token ids"));
    int[] ids = TokenIds.read(request, tokens, served.model().config().vocabulary());
    JsonObject body = new JsonObject();
    body.addProperty("content", tokenizer().decode(ids));
    exchange.json(200, body);
  }
}
