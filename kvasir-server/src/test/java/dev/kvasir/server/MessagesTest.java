package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.server.api.AccessRules;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The Messages API as clients use it. */
class MessagesTest {
  private static final String PATH = "/v1/messages";
  private static final String SEA =
      "\"messages\": [{\"role\": \"user\", \"content\": \"Tell me of the sea.\"}]";
  private static final String FEW = "\"temperature\": 0, \"max_tokens\": 12, " + SEA;

  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.startWhole();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static JsonObject block(JsonObject message) {
    return message.getAsJsonArray("content").get(0).getAsJsonObject();
  }

  private static String text(JsonObject message) {
    return block(message).get("text").getAsString();
  }

  @Test
  void aMessageIsAnsweredAsChatCompletionsAnswerIt() throws Exception {
    JsonObject chat = server.ask("/v1/chat/completions", "{" + FEW + "}");
    JsonObject message = server.ask(PATH, "{" + FEW + "}");
    assertThat(text(message))
        .isEqualTo(
            chat.getAsJsonArray("choices")
                .get(0)
                .getAsJsonObject()
                .getAsJsonObject("message")
                .get("content")
                .getAsString());
    assertThat(message.get("type").getAsString()).isEqualTo("message");
    assertThat(message.get("stop_reason").getAsString()).isEqualTo("max_tokens");
    JsonObject usage = message.getAsJsonObject("usage");
    int prompt = chat.getAsJsonObject("usage").get("prompt_tokens").getAsInt();
    assertThat(
            usage.get("input_tokens").getAsInt() + usage.get("cache_read_input_tokens").getAsInt())
        .isEqualTo(prompt);
    assertThat(usage.get("output_tokens").getAsInt()).isEqualTo(12);
    assertThat(server.ask(PATH + "/count_tokens", "{" + SEA + "}").get("input_tokens").getAsInt())
        .isEqualTo(prompt);
  }

  @Test
  void aStreamHasAllEventsInOrder() throws Exception {
    List<String> types = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    for (JsonObject event : server.events(PATH, "{%s, \"stream\": true}".formatted(FEW))) {
      String type = event.get("type").getAsString();
      if (type.equals("content_block_delta")) {
        text.append(event.getAsJsonObject("delta").get("text").getAsString());
      }
      if (types.isEmpty() || !types.getLast().equals(type)) {
        types.add(type);
      }
    }
    types.remove("ping"); // a slow machine may have one
    assertThat(types)
        .containsExactly(
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop");
    assertThat(text).hasToString(text(server.ask(PATH, "{" + FEW + "}")));
  }

  @Test
  void aToolIsCalledWholeAndStreamed() throws Exception {
    String request =
        """
        {"temperature": 0, "max_tokens": 200, %s, "tool_choice": {"type": "any"},
         "tools": [{"name": "weather", "input_schema": {"type": "object",
           "properties": {"city": {"enum": ["Oslo", "Rome"]}}, "required": ["city"]}}]"""
            .formatted(SEA);
    JsonObject message = server.ask(PATH, request + "}");
    assertThat(message.get("stop_reason").getAsString()).isEqualTo("tool_use");
    JsonObject call = block(message);
    assertThat(call.get("type").getAsString()).isEqualTo("tool_use");
    assertThat(call.getAsJsonObject("input").get("city").getAsString()).isIn("Oslo", "Rome");
    StringBuilder json = new StringBuilder();
    for (JsonObject event : server.events(PATH, request + ", \"stream\": true}")) {
      if (event.get("type").getAsString().equals("content_block_delta")) {
        json.append(event.getAsJsonObject("delta").get("partial_json").getAsString());
      }
    }
    assertThat(JsonParser.parseString(json.toString())).isEqualTo(call.get("input"));
  }

  @Test
  void aStopSequenceIsNamed() throws Exception {
    String phrase = text(server.ask(PATH, "{" + FEW + "}")).substring(4, 7);
    JsonObject message =
        server.ask(PATH, "{%s, \"stop_sequences\": [\"zzz\", \"%s\"]}".formatted(FEW, phrase));
    assertThat(message.get("stop_reason").getAsString()).isEqualTo("stop_sequence");
    assertThat(message.get("stop_sequence").getAsString()).isEqualTo(phrase);
  }

  @Test
  void errorsHaveTheFormatOfTheApi() throws Exception {
    HttpResponse<String> response = server.post(PATH, "{%s, \"top_p\": 2}".formatted(FEW));
    assertThat(response.statusCode()).isEqualTo(400);
    JsonObject body = JsonParser.parseString(response.body()).getAsJsonObject();
    assertThat(body.get("type").getAsString()).isEqualTo("error");
    JsonObject error = body.getAsJsonObject("error");
    assertThat(error.get("type").getAsString()).isEqualTo("invalid_request_error");
    assertThat(error.get("message").getAsString())
        .isEqualTo("top_p is 2; expected a number from 0 to 1");
  }

  @Test
  void theKeyMayBeInItsOwnHeader() throws Exception {
    AccessRules access = AccessRules.of(List.of("secret-key"), Set.of());
    try (TestServer guarded = TestServer.start(64 << 20, options -> options.withAccess(access))) {
      HttpRequest.Builder request =
          guarded
              .to(PATH + "/count_tokens")
              .POST(HttpRequest.BodyPublishers.ofString("{" + SEA + "}"));
      HttpResponse<String> refused = guarded.send(request.build());
      assertThat(refused.statusCode()).isEqualTo(401);
      assertThat(refused.body()).contains("\"type\":\"authentication_error\"");
      assertThat(guarded.send(request.header("x-api-key", "secret-key").build()).statusCode())
          .isEqualTo(200);
    }
  }
}
