package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.Embedder;
import dev.kvasir.Embedder.Pooling;
import dev.kvasir.cache.CacheSpec;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Embeddings and scores of a server whose model is a decoder. */
class EmbeddingsTest {
  private static final String PATH = "/v1/embeddings";
  private static final String TEXT = "The sea is calm.";
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static float[] expected(String text) {
    try (Embedder embedder = Embedder.of(server.model(), Pooling.MEAN)) {
      return embedder.embed(text).vector();
    }
  }

  private static List<JsonObject> data(JsonObject response) {
    return response.getAsJsonArray("data").asList().stream()
        .map(each -> each.getAsJsonObject())
        .toList();
  }

  private static float[] numbers(JsonObject embedding) {
    JsonArray numbers = embedding.getAsJsonArray("embedding");
    float[] vector = new float[numbers.size()];
    for (int i = 0; i < vector.length; i++) {
      vector[i] = numbers.get(i).getAsFloat();
    }
    return vector;
  }

  private static float[] bytes(JsonObject embedding) {
    byte[] bytes = Base64.getDecoder().decode(embedding.get("embedding").getAsString());
    float[] vector = new float[bytes.length / Float.BYTES];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(vector);
    return vector;
  }

  @Test
  void aTextHasTheVectorOfTheEmbedder() throws Exception {
    JsonObject response = server.ask(PATH, "{\"input\": \"%s\"}".formatted(TEXT));
    assertThat(response.get("object").getAsString()).isEqualTo("list");
    assertThat(numbers(data(response).getFirst())).isEqualTo(expected(TEXT));
    int tokens = server.model().tokenizer().encode(TEXT).length;
    assertThat(response.getAsJsonObject("usage").get("prompt_tokens").getAsInt()).isEqualTo(tokens);
    assertThat(server.ask("/embeddings", "{\"input\": \"%s\"}".formatted(TEXT)).get("data"))
        .isEqualTo(response.get("data"));
  }

  @Test
  void textsTokensAndEncodingsAreEqual() throws Exception {
    List<String> texts = new ArrayList<>();
    IntStream.range(0, 20).forEach(i -> texts.add((TEXT + " ").repeat(1 + i * i % 70).strip()));
    String list = "[\"" + String.join("\", \"", texts) + "\"]";
    List<JsonObject> embeddings =
        data(server.ask(PATH, "{\"input\": %s, \"encoding_format\": \"base64\"}".formatted(list)));
    assertThat(embeddings).hasSize(20);
    for (int i = 0; i < 20; i++) {
      assertThat(embeddings.get(i).get("index").getAsInt()).isEqualTo(i);
      assertThat(bytes(embeddings.get(i))).isEqualTo(expected(texts.get(i)));
    }
    int[] tokens = server.model().tokenizer().encode(TEXT);
    String ids = IntStream.of(tokens).boxed().toList().toString();
    for (String input : new String[] {ids, "[" + ids + "]"}) {
      JsonObject response = server.ask(PATH, "{\"input\": %s}".formatted(input));
      assertThat(numbers(data(response).getFirst())).isEqualTo(expected(TEXT));
    }
  }

  @Test
  void fewerDimensionsAreTheFirstOnesScaled() throws Exception {
    JsonObject response =
        server.ask(PATH, "{\"input\": \"%s\", \"dimensions\": 8}".formatted(TEXT));
    float[] vector = numbers(data(response).getFirst());
    float[] whole = expected(TEXT);
    assertThat(vector).hasSize(8);
    double length = 0;
    for (int i = 0; i < 8; i++) {
      length += vector[i] * vector[i];
      assertThat(vector[i] / vector[0]).isCloseTo(whole[i] / whole[0], within(1e-4f));
    }
    assertThat(length).isCloseTo(1, within(1e-5));
  }

  @Test
  void whatCannotBeEmbeddedIsRefused() throws Exception {
    assertRefused("{}", "input is missing; expected a text, token ids, or a list of them");
    assertRefused("{\"input\": \"\"}", "the text is empty; expected at least one token");
    assertRefused("{\"input\": []}", "input has 0 texts; expected 1 to 2048");
    assertRefused("{\"input\": [\"a\", 3]}", "input is 3; expected a text");
    assertRefused("{\"input\": [8192]}", "[0] is 8192; expected a token from 0 to 8191");
    assertRefused("{\"input\": \"a\", \"dimensions\": 0}", "dimensions is 0; expected a whole");
    assertRefused(
        "{\"input\": \"a\", \"encoding_format\": \"int8\"}",
        "encoding_format is 'int8'; expected float or base64");
    String tooLong = "{\"input\": \"%s\"}".formatted("sea ".repeat(16385));
    assertRefused(tooLong, "the model embeds at most 16384");
    assertThat(server.post(PATH, tooLong).body()).contains("context_length_exceeded");
    HttpResponse<String> rerank =
        server.post("/v1/rerank", "{\"query\": \"a\", \"documents\": [\"b\"]}");
    assertThat(rerank.statusCode()).isEqualTo(400);
    assertThat(rerank.body()).contains("this server's model is no reranker");
  }

  private static void assertRefused(String body, String message) throws Exception {
    HttpResponse<String> response = server.post(PATH, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    assertThat(
            JsonParser.parseString(response.body())
                .getAsJsonObject()
                .getAsJsonObject("error")
                .get("message")
                .getAsString())
        .contains(message);
  }

  @Test
  void completionsBesideEmbeddingsAreTheSame() throws Exception {
    String request = "{\"prompt\": \"Once upon a time\", \"max_tokens\": 24, \"temperature\": 0}";
    String alone = server.complete(request);
    List<Thread> readers = new ArrayList<>();
    List<Integer> statuses = Collections.synchronizedList(new ArrayList<>());
    String many = "{\"input\": [\"%s\", \"%s\"]}".formatted(TEXT.repeat(80), TEXT.repeat(40));
    for (int i = 0; i < 4; i++) {
      readers.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      statuses.add(server.post(PATH, many).statusCode());
                    } catch (Exception e) {
                      statuses.add(0);
                    }
                  }));
    }
    assertThat(server.complete(request)).isEqualTo(alone);
    for (Thread reader : readers) {
      reader.join();
    }
    assertThat(statuses).containsOnly(200).hasSize(4);
    assertThat(server.running()).isZero();
  }

  @Test
  void requestsBeyondTheMemoryAreRefusedAndOthersWait() throws Exception {
    try (TestServer small =
        TestServer.start(
            4 << 20,
            options -> options.withCacheSpecs(List.of(CacheSpec.DEFAULT)).withConcurrency(1, 0))) {
      HttpResponse<String> large =
          small.post(PATH, "{\"input\": \"%s\"}".formatted(TEXT.repeat(2500)));
      assertThat(large.statusCode()).isEqualTo(400);
      assertThat(large.body()).contains("bytes of cache; the server has");
      assertThat(small.post(PATH, "{\"input\": [\"a\", \"b\"]}").statusCode()).isEqualTo(200);
      assertThat(small.bytesWhenQuiet()).isZero();
    }
  }
}
