package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.ModelSession;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The API as clients use it. */
class CompletionsTest {
  private static final String PARAGRAPH = "The old man looked at the sea, and the sea was calm. ";
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String greedy(String prompt, int tokens) {
    return """
        {"prompt": "%s", "max_tokens": %d, "temperature": 0, "unknown_field": [1]}"""
        .formatted(prompt, tokens);
  }

  private static String alone(String spec, String prompt, int tokens) {
    SessionOptions options = SessionOptions.builder().cache(CacheSpec.parse(spec)).build();
    try (ModelSession session = server.model().newSession(options)) {
      return session
          .generate(prompt, GenerationSettings.greedy().withMaxTokens(tokens), piece -> {})
          .text();
    }
  }

  @Test
  void aTextIsContinuedAsTheLibraryContinuesIt() throws Exception {
    JsonObject answer = server.ask("/v1/completions", greedy("Once upon a time", 12));
    JsonObject choice = answer.getAsJsonArray("choices").get(0).getAsJsonObject();
    assertThat(choice.get("text").getAsString()).isEqualTo(alone("kivi:2", "Once upon a time", 12));
    assertThat(choice.get("finish_reason").getAsString()).isEqualTo("length");
    assertThat(answer.get("object").getAsString()).isEqualTo("text_completion");
    JsonObject usage = answer.getAsJsonObject("usage");
    assertThat(usage.get("completion_tokens").getAsInt()).isEqualTo(12);
    assertThat(usage.get("total_tokens").getAsInt())
        .isEqualTo(12 + usage.get("prompt_tokens").getAsInt());
    assertThat(answer.getAsJsonObject("timings").get("predicted_n").getAsInt()).isEqualTo(12);
  }

  @Test
  void aStreamHasTheSameTextInPieces() throws Exception {
    String body =
        """
        {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 9, "temperature": 0,
         "stream": true, "stream_options": {"include_usage": true}}""";
    List<JsonObject> events = server.events("/v1/chat/completions", body);
    StringBuilder text = new StringBuilder();
    String reason = null;
    for (JsonObject event : events) {
      assertThat(event.get("object").getAsString()).isEqualTo("chat.completion.chunk");
      for (var choice : event.getAsJsonArray("choices")) {
        JsonObject delta = choice.getAsJsonObject().getAsJsonObject("delta");
        text.append(delta.has("content") ? delta.get("content").getAsString() : "");
        if (!choice.getAsJsonObject().get("finish_reason").isJsonNull()) {
          reason = choice.getAsJsonObject().get("finish_reason").getAsString();
        }
      }
    }
    assertThat(reason).isEqualTo("length");
    assertThat(events.getLast().getAsJsonObject("usage").get("completion_tokens").getAsInt())
        .isEqualTo(9);
    JsonObject whole = server.ask("/v1/chat/completions", body.replace("\"stream\": true,", ""));
    JsonObject message =
        whole.getAsJsonArray("choices").get(0).getAsJsonObject().getAsJsonObject("message");
    assertThat(message.get("content").getAsString()).isEqualTo(text.toString());
    assertThat(message.get("role").getAsString()).isEqualTo("assistant");
  }

  @Test
  void aStreamEndsWithDone() throws Exception {
    HttpResponse<String> response =
        server.post("/v1/completions", "{\"prompt\": \"A\", \"max_tokens\": 2, \"stream\": true}");
    assertThat(response.headers().firstValue("Content-Type").orElse(""))
        .startsWith("text/event-stream");
    assertThat(response.body()).endsWith("data: [DONE]\n\n");
  }

  @Test
  void aCompletionEndsBeforeAStopSequence() throws Exception {
    String whole = alone("kivi:2", "Once upon a time", 40);
    String phrase = whole.substring(20, 26);
    String cut = whole.substring(0, whole.indexOf(phrase));
    String body = greedy("Once upon a time", 40).replace("}", ", \"stop\": [\"%s\", \"zzz\"]}");
    JsonObject answer = server.ask("/v1/completions", body.formatted(phrase));
    JsonObject choice = answer.getAsJsonArray("choices").get(0).getAsJsonObject();
    assertThat(choice.get("text").getAsString()).isEqualTo(cut);
    assertThat(choice.get("finish_reason").getAsString()).isEqualTo("stop");
  }

  @Test
  void choicesDifferBySeedAndAreReproducible() throws Exception {
    String body = "{\"prompt\": \"The sea\", \"max_tokens\": 12, \"n\": 3, \"seed\": 5}";
    JsonArray first = server.ask("/v1/completions", body).getAsJsonArray("choices");
    JsonArray again = server.ask("/v1/completions", body).getAsJsonArray("choices");
    assertThat(first).isEqualTo(again).hasSize(3);
    List<String> texts = new ArrayList<>();
    first.forEach(choice -> texts.add(choice.getAsJsonObject().get("text").getAsString()));
    assertThat(texts).doesNotHaveDuplicates();
  }

  @Test
  void aSecondTurnPrefillsOnlyNewTokens() throws Exception {
    String first = PARAGRAPH.repeat(60);
    String text = server.complete(greedy(first, 8));
    JsonObject second = server.ask("/v1/completions", greedy(first + text + " And then", 8));
    JsonObject usage = second.getAsJsonObject("usage");
    int known = usage.getAsJsonObject("prompt_tokens_details").get("cached_tokens").getAsInt();
    assertThat(known).isGreaterThan(usage.get("prompt_tokens").getAsInt() - 20);
    assertThat(second.getAsJsonObject("timings").get("prompt_n").getAsInt())
        .isEqualTo(usage.get("prompt_tokens").getAsInt() - known);
    assertThat(second.getAsJsonArray("choices").get(0).getAsJsonObject().get("text").getAsString())
        .isEqualTo(alone("kivi:2", first + text + " And then", 8));
  }

  @Test
  void aRequestSelectsItsCacheSpec() throws Exception {
    String prompt = PARAGRAPH.repeat(25);
    String body = greedy(prompt, 8).replace("}", ", \"kv\": \"fp16\"}");
    assertThat(server.complete(body)).isEqualTo(alone("fp16", prompt, 8));
    body = greedy(prompt, 8).replace("}", ", \"model\": \"kvasir-mini@patternkv:2\"}");
    assertThat(server.complete(body)).isEqualTo(alone("patternkv:2", prompt, 8));
  }

  @Test
  void concurrentRequestsGetTheSameTextsAsSingleOnes() throws Exception {
    List<String> kinds = List.of("kivi:2", "fp16", "patternkv:2");
    List<String> bodies = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      String prompt = "Story %d. %s".formatted(i % 5, PARAGRAPH.repeat(1 + 7 * (i % 4)));
      String kind = kinds.get(i % 3);
      bodies.add(greedy(prompt, 10).replace("}", ", \"kv\": \"%s\"}".formatted(kind)));
      expected.add(alone(kind, prompt, 10));
    }
    List<Future<String>> texts = new ArrayList<>();
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      bodies.forEach(body -> texts.add(clients.submit(() -> server.complete(body))));
    }
    for (int i = 0; i < texts.size(); i++) {
      assertThat(texts.get(i).get()).isEqualTo(expected.get(i));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"max_tokens\": 3} | prompt is missing; expected a text or a list of token ids",
        "{\"prompt\": \"\", \"x\": 1} | the prompt is empty; at least one token is needed",
        "{\"prompt\": [5, -1]} | [1] is -1; expected a token from 0 to 8191",
        "{\"prompt\": [\"a\", \"b\"]} | prompt has 2 texts; expected one a request",
        "{\"prompt\": \"a\", \"n\": 0} | n is 0; expected a whole number from 1 to 16",
        "{\"prompt\": \"a\", \"top_p\": 2} | top_p is 2; expected a number from 0 to 1",
        "{\"prompt\": \"a\", \"stream\": 1} | stream is 1; expected true or false",
        "{\"prompt\": \"a\", \"kv\": \"kivi:3\"} | the kind of cache is 'kivi:3'; this server allows [kivi:2, fp16, patternkv:2]",
        "{\"prompt\": \"a\", \"stop\": 3} | stop is 3; expected up to 16 texts of 1000 characters at the most",
        "[1] | the request's body: holds an array; expected a JSON object",
      })
  void errorsAreOneSentence(String body, String sentence) throws Exception {
    HttpResponse<String> response = server.post("/v1/completions", body);
    assertThat(response.statusCode()).isEqualTo(400);
    JsonObject error =
        com.google.gson.JsonParser.parseString(response.body())
            .getAsJsonObject()
            .getAsJsonObject("error");
    assertThat(error.get("message").getAsString()).isEqualTo(sentence);
    assertThat(error.get("type").getAsString()).isEqualTo("invalid_request_error");
  }

  @Test
  void textIsTokenizedAndDetokenized() throws Exception {
    JsonObject tokens = server.ask("/tokenize", "{\"content\": \"Once upon a time\"}");
    String back = server.ask("/detokenize", tokens.toString()).get("content").getAsString();
    assertThat(back).isEqualTo("Once upon a time");
  }

  @Test
  void modelsHealthStateAndMetricsAreThere() throws Exception {
    assertThat(server.get("/v1/models").getAsJsonArray("data")).hasSize(3);
    assertThat(server.get("/v1/models/kvasir-mini@fp16").get("id").getAsString())
        .isEqualTo("kvasir-mini@fp16");
    assertThat(server.get("/health").get("status").getAsString()).isEqualTo("ok");
    server.ask("/v1/completions", greedy(PARAGRAPH.repeat(30), 3));
    JsonObject state = server.get("/kvasir/state");
    assertThat(state.getAsJsonArray("conversations")).isNotEmpty();
    String metrics = server.send(server.to("/metrics").build()).body();
    assertThat(metrics)
        .contains("kvasir_requests_total{endpoint=\"/v1/completions\",status=\"200\"}")
        .contains("kvasir_time_to_first_token_seconds_bucket{le=\"+Inf\"}")
        .contains(
            "kvasir_inter_token_latency_seconds_count ",
            "kvasir_prompt_tokens_cached_total ",
            "kvasir_completions_truncated_total ",
            "kvasir_kv_used_bytes ",
            "kvasir_kv_peak_bytes ",
            "kvasir_kv_reserved_bytes ")
        .contains( // names of earlier versions
            "kvasir_token_gap_seconds_count ",
            "kvasir_prompt_tokens_known_total ",
            "kvasir_answers_cut_short_total ",
            "kvasir_kv_taken_bytes ",
            "kvasir_kv_most_bytes ",
            "kvasir_kv_promised_bytes ")
        .containsPattern("kvasir_kv_bytes\\{state=\"kept\",kind=\"pages\",bits=\"2\"} [1-9]");
  }

  @Test
  void aConversationIsForgottenByItsKey() throws Exception {
    String body =
        greedy("Key. " + PARAGRAPH.repeat(30), 3)
            .replace("}", ", \"prompt_cache_key\": \"a b/c\"}");
    server.ask("/v1/completions", body);
    assertThat(server.get("/kvasir/state").toString()).contains("\"a b/c\"");
    var response = server.send(server.to("/kvasir/conversations/a%20b%2Fc").DELETE().build());
    assertThat(response.statusCode()).isEqualTo(204);
    assertThat(server.get("/kvasir/state").toString()).doesNotContain("\"a b/c\"");
  }

  @Test
  void aSecondTurnOfAShortConversationReusesTheFirst() throws Exception {
    String user = "{\"role\": \"user\", \"content\": \"Tell me of a fox and a crow.\"}";
    String path = "/v1/chat/completions";
    JsonObject first =
        server.ask(path, "{\"messages\": [%s], \"max_tokens\": 40, \"seed\": 3}".formatted(user));
    JsonObject reply =
        first.getAsJsonArray("choices").get(0).getAsJsonObject().getAsJsonObject("message");
    JsonObject second =
        server.ask(
            path, "{\"messages\": [%s, %s, %s], \"max_tokens\": 2}".formatted(user, reply, user));
    int read = first.getAsJsonObject("usage").get("prompt_tokens").getAsInt();
    int known =
        second
            .getAsJsonObject("usage")
            .getAsJsonObject("prompt_tokens_details")
            .get("cached_tokens")
            .getAsInt();
    assertThat(known).as("the first prompt at the least").isGreaterThanOrEqualTo(read);
  }
}
