package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Endpoints and fields of other servers that clients expect. */
class OtherEndpointsTest {
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

  @Test
  void aModelHasItsContextAndCapabilities() throws Exception {
    JsonObject model = server.get("/v1/models").getAsJsonArray("data").get(0).getAsJsonObject();
    assertThat(model.get("context_length").getAsInt()).isEqualTo(16384);
    assertThat(model.get("max_model_len")).isEqualTo(model.get("context_length"));
    assertThat(model.getAsJsonArray("capabilities").toString()).contains("structured_outputs");
    assertThat(model.getAsJsonObject("meta").get("n_vocab").getAsInt()).isEqualTo(8192);
  }

  @Test
  void propertiesAndSlotsAreThoseOfTheModel() throws Exception {
    JsonObject props = server.get("/props");
    assertThat(props.get("total_slots").getAsInt()).isEqualTo(64);
    assertThat(props.getAsJsonObject("default_generation_settings").get("n_ctx").getAsInt())
        .isEqualTo(16384);
    JsonArray slots =
        JsonParser.parseString(server.send(server.to("/slots").build()).body()).getAsJsonArray();
    assertThat(slots).hasSize(64);
    assertThat(slots.get(63).getAsJsonObject().get("is_processing").getAsBoolean()).isFalse();
  }

  @Test
  void whatTheModelCannotDoIsRefused() throws Exception {
    HttpResponse<String> gap = server.post("/infill", "{\"input_prefix\": \"a\"}");
    assertThat(gap.statusCode()).isEqualTo(400);
    assertThat(gap.body()).contains("this model has no tokens for filling a gap in a text");
    HttpResponse<String> audio = server.post("/v1/audio/transcriptions", "{}");
    assertThat(audio.statusCode()).isEqualTo(400);
    assertThat(audio.body()).contains("this server has no models for audio or images");
  }

  /** Anthropic's clients add /v1 to the base URL, OpenAI's do not. */
  @Test
  void aBaseUrlWithTheVersionTwiceIsExplained() throws Exception {
    HttpResponse<String> twice = server.post("/v1/v1/messages", "{}");
    assertThat(twice.statusCode()).isEqualTo(404);
    assertThat(twice.body()).contains("expected a base URL without /v1");
  }

  private static int cached(String path, String fields) throws Exception {
    return server
        .ask(
            path,
            "{\"prompt\": \"%s\", \"max_tokens\": 2, \"temperature\": 0, %s}"
                .formatted(PARAGRAPH.repeat(30), fields))
        .getAsJsonObject("usage")
        .getAsJsonObject("prompt_tokens_details")
        .get("cached_tokens")
        .getAsInt();
  }

  @Test
  void prefixesOfDifferentSaltsAreNeverShared() throws Exception {
    String path = "/v1/completions";
    String key = "\"service_tier\": \"auto\", \"prompt_cache_key\": \"tale\"";
    assertThat(cached(path, key + ", \"cache_salt\": \"a\"")).isZero();
    assertThat(cached(path, key + ", \"cache_salt\": \"b\"")).isZero();
    // Texts of other tests, which have no salt, may begin with the same token.
    assertThat(cached(path, key)).isLessThanOrEqualTo(1);
    assertThat(cached(path, key + ", \"cache_salt\": \"a\"")).isPositive();
    HttpRequest delete = server.to("/kvasir/conversations/tale?cache_salt=a").DELETE().build();
    assertThat(server.send(delete).statusCode()).isEqualTo(204);
    assertThat(cached(path, key + ", \"cache_salt\": \"a\"")).isZero();
    assertThat(cached(path, key + ", \"cache_salt\": \"b\"")).isPositive();
    assertThat(server.post(path, "{\"prompt\": \"a\", \"cache_salt\": \"\"}").body())
        .contains("cache_salt has 0 characters; expected 1 to 200");
  }

  @Test
  void aTextKeepsToAPatternOrAGrammar() throws Exception {
    String request = "{\"prompt\": \"The time:\", \"max_tokens\": 30, \"seed\": 3, %s}";
    String pattern = "[01][0-9]:[0-5][0-9]( am| pm)";
    String grammar = "\"root ::= \\\"<\\\" [a-c]{2,4} \\\">\\\"\"";
    for (String field :
        new String[] {
          "\"guided_regex\": \"%s\"".formatted(pattern),
          "\"structured_outputs\": {\"regex\": \"%s\"}".formatted(pattern)
        }) {
      assertThat(server.complete(request.formatted(field))).matches(pattern);
    }
    for (String field :
        new String[] {
          "\"grammar\": " + grammar,
          "\"guided_grammar\": " + grammar,
          "\"structured_outputs\": {\"grammar\": %s}".formatted(grammar)
        }) {
      assertThat(server.complete(request.formatted(field))).matches("<[a-c]{2,4}>");
    }
    HttpResponse<String> wrong =
        server.post("/v1/completions", request.formatted("\"grammar\": \"root\""));
    assertThat(wrong.statusCode()).isEqualTo(400);
    assertThat(wrong.body()).contains("line 1 of the grammar has a name without ::=");
    HttpResponse<String> both =
        server.post(
            "/v1/completions",
            request.formatted("\"guided_regex\": \"a\", \"grammar\": " + grammar));
    assertThat(both.body()).contains("grammar and guided_regex are both given; expected one");
  }
}
