package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.Embedder;
import dev.kvasir.Reranker;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedEncoder;
import dev.kvasir.server.watch.ServerLog;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server whose model is an encoder serves vectors or scores, and nothing else. */
class EncoderServerTest {
  @TempDir Path folder;
  private final HttpClient client = HttpClient.newHttpClient();
  private LoadedEncoder encoder;
  private KvasirServer server;

  private void start(boolean hasHead) throws IOException {
    TinyEncoder.write(folder, hasHead);
    encoder = LoadedEncoder.load(folder, EngineOptions.defaults());
    server =
        KvasirServer.start(
            encoder,
            ServerOptions.defaults().withAddress("127.0.0.1", 0),
            new ServerLog(new PrintStream(OutputStream.nullOutputStream())));
  }

  @AfterEach
  void stop() {
    server.close();
    encoder.close();
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
  }

  private JsonObject ask(String path, String body) throws Exception {
    HttpResponse<String> response = send(to(path).POST(BodyPublishers.ofString(body)));
    return JsonParser.parseString(response.body()).getAsJsonObject();
  }

  private static String message(JsonObject response) {
    return response.getAsJsonObject("error").get("message").getAsString();
  }

  @Test
  void anEncoderServesEmbeddings() throws Exception {
    start(false);
    JsonObject response = ask("/v1/embeddings", "{\"input\": [\"the sea\", \"calm\"]}");
    JsonArray data = response.getAsJsonArray("data");
    try (Embedder embedder = Embedder.load(folder.toString())) {
      float[] expected = embedder.embed("calm").vector();
      JsonArray vector = data.get(1).getAsJsonObject().getAsJsonArray("embedding");
      for (int i = 0; i < expected.length; i++) {
        assertThat(vector.get(i).getAsFloat()).isEqualTo(expected[i]);
      }
    }
    assertThat(response.get("model").getAsString()).isEqualTo(folder.getFileName().toString());
    assertThat(response.getAsJsonObject("usage").get("total_tokens").getAsInt()).isEqualTo(7);
    assertThat(message(ask("/v1/embeddings", "{\"input\": \"%s\"}".formatted("sea ".repeat(20)))))
        .isEqualTo("the text has 22 tokens; the model embeds at most 16");
    assertThat(send(to("/v1/models")).body()).contains("\"capabilities\":[\"embeddings\"]");
    assertThat(send(to("/metrics")).body()).contains("kvasir_prompt_tokens_total 7");
    assertThat(send(to("/readyz")).statusCode()).isEqualTo(200);
  }

  @Test
  void requestsForTextAreToldWhatTheServerServes() throws Exception {
    start(false);
    for (String path : List.of("/v1/chat/completions", "/v1/completions", "/v1/responses")) {
      assertThat(message(ask(path, "{}")))
          .isEqualTo(
              "this server's model is an encoder and generates no text; it serves /v1/embeddings");
    }
    assertThat(message(ask("/v1/rerank", "{}"))).contains("this server's model is no reranker");
  }

  @Test
  void anEncoderWithAHeadServesScores() throws Exception {
    start(true);
    String request =
        "{\"query\": \"the sea\", \"documents\": [\"is\", {\"text\": \"calm sea\"}, \"the\"]%s}";
    JsonArray all = ask("/v1/rerank", request.formatted("")).getAsJsonArray("results");
    try (Reranker reranker = Reranker.load(folder.toString())) {
      List<Reranker.Ranked> expected = reranker.rank("the sea", List.of("is", "calm sea", "the"));
      for (int i = 0; i < 3; i++) {
        JsonObject result = all.get(i).getAsJsonObject();
        assertThat(result.get("index").getAsInt()).isEqualTo(expected.get(i).index());
        assertThat(result.get("relevance_score").getAsFloat()).isEqualTo(expected.get(i).score());
      }
    }
    JsonObject best =
        ask("/rerank", request.formatted(", \"top_n\": 1, \"return_documents\": true"));
    assertThat(best.getAsJsonArray("results")).hasSize(1);
    assertThat(best.toString()).contains("\"document\":{\"text\":");
    assertThat(message(ask("/v1/rerank", "{\"query\": \"a\", \"documents\": []}")))
        .isEqualTo("documents has 0 texts; expected 1 to 2048");
    assertThat(message(ask("/v1/rerank", "{\"documents\": [\"a\"]}")))
        .isEqualTo("query is missing; expected a text");
    assertThat(message(ask("/v1/embeddings", "{\"input\": \"a\"}")))
        .contains("this server makes no embeddings");
  }
}
