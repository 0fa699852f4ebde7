package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The npm package openai as a client, at the last version that supports Node 20. */
class OpenAiPackageTest {
  private static final String VERSION = "6.49.0";

  private static JsonObject came;
  private static long bytesLeft;

  @BeforeAll
  static void ask() throws IOException, InterruptedException {
    NodePackage openai = NodePackage.of("openai", VERSION, 20);
    try (TestServer server = TestServer.startWhole()) {
      String url = "http://127.0.0.1:" + server.port() + "/v1";
      came = JsonParser.parseString(openai.run("openai-client.mjs", url)).getAsJsonObject();
      bytesLeft = server.bytesWhenQuiet();
    }
  }

  private static JsonObject choice(JsonObject answer) {
    return answer.getAsJsonArray("choices").get(0).getAsJsonObject();
  }

  @Test
  void itFindsTheModel() {
    assertThat(came.getAsJsonArray("models").get(0).getAsString()).isEqualTo("kvasir-mini");
  }

  @Test
  void aStreamGivesTheTextAndCountsOfAWholeAnswer() {
    JsonObject whole = came.getAsJsonObject("whole");
    StringBuilder streamed = new StringBuilder();
    for (JsonElement piece : came.getAsJsonArray("pieces")) {
      streamed.append(piece.getAsString());
    }
    String text = choice(whole).getAsJsonObject("message").get("content").getAsString();
    assertThat(streamed).hasToString(text);
    assertThat(text).isNotBlank();
    JsonObject usage = came.getAsJsonObject("streamUsage");
    for (String count : new String[] {"prompt_tokens", "completion_tokens", "total_tokens"}) {
      assertThat(usage.get(count)).isEqualTo(whole.getAsJsonObject("usage").get(count));
    }
    assertThat(usage.get("completion_tokens").getAsInt()).isEqualTo(12);
    assertThat(came.get("streamReason").getAsString()).isEqualTo("length");
  }

  @Test
  void toolCallsAreReadWholeAndStreamed() {
    JsonObject message = came.getAsJsonObject("call").getAsJsonObject("message");
    for (JsonObject each : new JsonObject[] {message, came.getAsJsonObject("streamedCall")}) {
      JsonObject call = each.getAsJsonArray("tool_calls").get(0).getAsJsonObject();
      JsonObject function = call.getAsJsonObject("function");
      assertThat(call.get("id").getAsString()).startsWith("call_");
      assertThat(function.get("name").getAsString()).isEqualTo("weather");
      assertThat(
              JsonParser.parseString(function.get("arguments").getAsString())
                  .getAsJsonObject()
                  .get("city")
                  .getAsString())
          .isIn("Oslo", "Rome");
    }
  }

  @Test
  void anAnswerOfASchemaIsParsed() {
    assertThat(came.getAsJsonObject("parsed").get("tide").getAsString()).isIn("low", "high");
  }

  @Test
  void aTextIsContinued() {
    assertThat(came.get("text").getAsString()).isNotBlank();
  }

  @Test
  void anAbandonedStreamReleasesItsMemory() {
    assertThat(came.get("beforeBreak").getAsInt()).isEqualTo(3);
    assertThat(bytesLeft).isZero();
  }

  @Test
  void aRefusalIsTheErrorOfItsKind() {
    JsonObject refusal = came.getAsJsonObject("refusal");
    assertThat(refusal.get("kind").getAsString()).isEqualTo("BadRequestError");
    assertThat(refusal.get("status").getAsInt()).isEqualTo(400);
    assertThat(refusal.get("param").getAsString()).isEqualTo("temperature");
    assertThat(refusal.get("message").getAsString())
        .contains("temperature is -1; expected a number from 0 to 100");
  }
}
