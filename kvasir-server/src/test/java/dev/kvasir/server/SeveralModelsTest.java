package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.api.AccessRules;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.store.StoreAddress;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One server with several models, of which one fits into memory at a time. */
class SeveralModelsTest {
  private static final long BYTES = 64 << 20;
  private static final String PROMPT =
      "\"prompt\": \"Once\", \"max_tokens\": 4, \"temperature\": 0";

  @TempDir private static Path folder;
  private static Path shallow;
  private static Path other;

  private final HttpClient client = HttpClient.newHttpClient();
  private final CountDownLatch mayLoad = new CountDownLatch(1);
  private KvasirServer server;

  /** A model that may be loaded when the test says so. */
  private record Shallow(String name, Path path, CacheSpec spec, long bytes, CountDownLatch mayLoad)
      implements ServableModel {
    @Override
    public List<CacheSpec> cacheSpecs() {
      return List.of(spec);
    }

    @Override
    public LoadedModel load() {
      try {
        mayLoad.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return LoadedModel.load(path, EngineOptions.defaults().withCacheBytes(BYTES / 2));
    }
  }

  @BeforeAll
  static void write() {
    shallow = ShallowModel.write(folder.resolve("shallow.gguf"));
    other = ShallowModel.write(folder.resolve("other.gguf"));
  }

  private void start(Optional<String> defaultModel, AccessRules access) {
    start(defaultModel, ServerOptions.defaults().withAccess(access));
  }

  private void start(Optional<String> defaultModel, ServerOptions given) {
    ServerOptions options = given.withAddress("127.0.0.1", 0);
    CacheSpec kivi = CacheSpec.parse("kivi:2");
    List<ServableModel> models =
        List.of(
            new Shallow("shallow", shallow, CacheSpec.DEFAULT, BYTES, mayLoad),
            new Shallow("other", other, kivi, BYTES, mayLoad),
            new Shallow("huge", other, kivi, BYTES + 1, mayLoad),
            new Shallow("broken", folder.resolve("none.gguf"), kivi, BYTES, mayLoad));
    ServerLog log = new ServerLog(new PrintStream(new ByteArrayOutputStream()));
    server = KvasirServer.start(() -> models, BYTES, defaultModel, options, log);
  }

  private void start() {
    mayLoad.countDown();
    start(Optional.empty(), AccessRules.loopback());
  }

  @AfterEach
  void stop() {
    mayLoad.countDown();
    server.close();
  }

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  private HttpResponse<String> get(String path) throws Exception {
    return client.send(to(path).build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return client.send(
        to(path).POST(HttpRequest.BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> complete(String model) throws Exception {
    return post("/v1/completions", "{\"model\": \"%s\", %s}".formatted(model, PROMPT));
  }

  private static JsonObject json(HttpResponse<String> response) {
    return JsonParser.parseString(response.body()).getAsJsonObject();
  }

  /** Returns the state of each model. */
  private List<String> states() throws Exception {
    return StreamSupport.stream(json(get("/v1/models")).getAsJsonArray("data").spliterator(), false)
        .map(JsonElement::getAsJsonObject)
        .map(
            model ->
                model.get("id").getAsString()
                    + " "
                    + model.getAsJsonObject("status").get("value").getAsString())
        .toList();
  }

  @Test
  void aStoreKeepsResponsesOfAllModelsAcrossRestarts() throws Exception {
    mayLoad.countDown();
    ServerOptions stored =
        ServerOptions.defaults()
            .withStores(List.of(StoreAddress.parse(folder.resolve("store").toString())));
    start(Optional.empty(), stored);
    JsonObject first = respond("shallow", "\"input\": \"Once\"");
    server.close();
    start(Optional.empty(), stored);
    String id = first.get("id").getAsString();
    assertThat(json(get("/v1/responses/" + id))).isEqualTo(first);
    JsonObject second =
        respond("other", "\"input\": \"more\", \"previous_response_id\": \"" + id + '"');
    assertThat(second.get("previous_response_id")).isEqualTo(first.get("id"));
  }

  private JsonObject respond(String model, String fields) throws Exception {
    HttpResponse<String> response =
        post(
            "/v1/responses",
            "{\"model\": \"%s\", \"max_output_tokens\": 4, %s}".formatted(model, fields));
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return json(response);
  }

  @Test
  void requestsGetTheModelThatTheyName() throws Exception {
    start();
    assertThat(states())
        .containsExactly("shallow unloaded", "other unloaded", "huge unloaded", "broken unloaded");
    assertThat(json(complete("shallow")).get("model").getAsString()).isEqualTo("shallow");
    assertThat(states()).contains("shallow loaded", "other unloaded");
    HttpResponse<String> chat =
        post(
            "/v1/messages",
            "{\"model\": \"other\", \"max_tokens\": 2, \"messages\":"
                + " [{\"role\": \"user\", \"content\": \"Hi\"}]}");
    assertThat(chat.statusCode()).isEqualTo(200);
    assertThat(states()).contains("shallow unloaded", "other loaded");
    JsonObject state = json(get("/kvasir/state"));
    assertThat(state.get("kv").getAsString()).isEqualTo("kivi:2");
    assertThat(state.getAsJsonArray("models")).hasSize(4);
    assertThat(json(get("/kvasir/state?model=shallow")).get("kv").getAsString()).isEmpty();
    assertThat(json(get("/props?model=other")).get("total_slots").getAsInt()).isEqualTo(64);
    assertThat(get("/metrics").body())
        .contains("kvasir_models_loaded 1", "kvasir_kv_limit_bytes{model=\"other\"} 33554432");
  }

  @Test
  void modelsCanBeLoadedAndUnloaded() throws Exception {
    start();
    JsonObject loaded = json(post("/models/load", "{\"model\": \"other\"}"));
    assertThat(loaded.get("success").getAsBoolean()).isTrue();
    assertThat(states()).contains("other loaded");
    assertThat(post("/models/unload", "{\"model\": \"other\"}").statusCode()).isEqualTo(200);
    assertThat(states()).contains("other unloaded");
  }

  @Test
  void mistakesAreReported() throws Exception {
    start();
    HttpResponse<String> unknown = complete("gpt-4o");
    assertThat(unknown.statusCode()).isEqualTo(404);
    assertThat(unknown.body())
        .contains("there is no model 'gpt-4o'; there are [shallow, other, huge, broken]")
        .contains("model_not_found");
    assertThat(post("/v1/messages", "{\"model\": \"x\"}").body()).contains("not_found_error");
    HttpResponse<String> missing = post("/v1/completions", "{" + PROMPT + "}");
    assertThat(missing.statusCode()).isEqualTo(400);
    assertThat(missing.body()).contains("model is missing; expected one of [shallow, other,");
    HttpResponse<String> huge = complete("huge");
    assertThat(huge.statusCode()).isEqualTo(400);
    assertThat(huge.body())
        .contains("the model 'huge' takes 67108865 bytes with its KV caches; the memory of all");
    assertThat(complete("broken").body()).contains("none.gguf");
    assertThat(get("/v1/models/huge").body()).contains("unloaded");
    assertThat(get("/nothing").statusCode()).isEqualTo(404);
    assertThat(states()).contains("broken unloaded", "shallow unloaded");
  }

  @Test
  void aRequestWithoutAModelGetsTheDefault() throws Exception {
    mayLoad.countDown();
    start(Optional.of("other"), AccessRules.loopback());
    assertThat(json(post("/v1/completions", "{" + PROMPT + "}")).get("model").getAsString())
        .isEqualTo("other");
  }

  @Test
  void aWaitingRequestGetsKeepAlives() throws Exception {
    start(Optional.of("other"), AccessRules.loopback());
    HttpResponse<Stream<String>> stream =
        client.send(
            to("/v1/completions")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"stream\": true, \"model\": \"shallow\", %s}".formatted(PROMPT)))
                .build(),
            BodyHandlers.ofLines());
    // Its headers came with the first keep-alive.
    assertThat(states()).contains("shallow loading");
    mayLoad.countDown();
    List<String> lines = stream.body().toList();
    assertThat(lines.getFirst()).isEqualTo(": waiting for the model shallow");
    assertThat(lines).contains("data: [DONE]");
  }

  @Test
  void anErrorAfterKeepAlivesIsAnEvent() throws Exception {
    start(Optional.of("other"), AccessRules.loopback());
    HttpResponse<Stream<String>> stream =
        client.send(
            to("/v1/completions")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"stream\": true, \"prompt\": \"a\", \"temperature\": \"hot\"}"))
                .build(),
            BodyHandlers.ofLines());
    mayLoad.countDown();
    assertThat(stream.body().toList())
        .anySatisfy(line -> assertThat(line).startsWith("data: {\"error\":{\"message\":\"temper"));
  }

  @Test
  void keysCanBeReplaced() throws Exception {
    mayLoad.countDown();
    start(Optional.empty(), AccessRules.of(List.of("first-key"), Set.of()));
    assertThat(get("/v1/models").statusCode()).isEqualTo(401);
    assertThat(status("first-key")).isEqualTo(200);
    server.setAccess(AccessRules.of(List.of("second-key"), Set.of()));
    assertThat(status("first-key")).isEqualTo(401);
    assertThat(status("second-key")).isEqualTo(200);
  }

  private int status(String key) throws Exception {
    HttpRequest request = to("/v1/models").header("Authorization", "Bearer " + key).build();
    return client.send(request, BodyHandlers.ofString()).statusCode();
  }
}
