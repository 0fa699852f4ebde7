package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Structured outputs, logprobs and penalties. */
class StructuredOutputTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String TOOLS =
      """
      "tools": [{"type": "function", "function": {"name": "weather", "parameters":
        {"type": "object", "properties": {"city": {"$ref": "#/$defs/city"}, "days": {"type":
        "integer", "minimum": 1, "maximum": 9}}, "required": ["city", "days"], "$defs": {"city":
        {"enum": ["Oslo", "Rome"]}}}}}]""";

  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.startWhole();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String request(String fields) {
    return "{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}], \"max_tokens\": 200, "
        + fields
        + "}";
  }

  private static JsonObject choice(JsonObject answer) {
    return answer.getAsJsonArray("choices").get(0).getAsJsonObject();
  }

  @Test
  void aCompletionFollowsASchema() throws Exception {
    String schema =
        """
        {"type": "object", "properties": {"mood": {"enum": ["glad", "sad"]}, "age": {"type":
        "integer", "minimum": 1, "maximum": 99}}, "required": ["mood", "age"],
        "additionalProperties": false}""";
    String format =
        "\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"x\","
            + " \"schema\": %s}}";
    for (int seed = 0; seed < 4; seed++) {
      JsonObject answer =
          server.ask(CHAT, request(format.formatted(schema) + ", \"seed\": " + seed));
      String content = choice(answer).getAsJsonObject("message").get("content").getAsString();
      JsonObject value = JsonParser.parseString(content).getAsJsonObject();
      assertThat(value.get("mood").getAsString()).isIn("glad", "sad");
      assertThat(value.get("age").getAsInt()).isBetween(1, 99);
      assertThat(choice(answer).get("finish_reason").getAsString()).isEqualTo("stop");
    }
  }

  @Test
  void anUnsupportedSchemaIsRefused() throws Exception {
    HttpResponse<String> response =
        server.post(
            CHAT,
            request(
                "\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"schema\":"
                    + " {\"type\": \"integer\", \"multipleOf\": 3}}}"));
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("multipleOf").contains("response_format");
  }

  @Test
  void aCompletionIsOneOfSeveralTexts() throws Exception {
    String fields = "\"structured_outputs\": {\"choice\": [\"glad\", \"sad as rain\"]}, \"seed\": ";
    for (int seed = 0; seed < 4; seed++) {
      JsonObject answer = server.ask(CHAT, request(fields + seed));
      String content = choice(answer).getAsJsonObject("message").get("content").getAsString();
      assertThat(content).isIn("glad", "sad as rain");
      assertThat(choice(answer).get("finish_reason").getAsString()).isEqualTo("stop");
    }
  }

  @Test
  void textsToChooseFromMustBeTextsAndStandAlone() throws Exception {
    assertThat(server.post(CHAT, request("\"structured_outputs\": {\"choice\": [1]}")).body())
        .contains("structured_outputs.choice is [1]; expected a list of at least one text");
    String both =
        "\"structured_outputs\": {\"choice\": [\"a\"]},"
            + " \"response_format\": {\"type\": \"json_object\"}";
    assertThat(server.post(CHAT, request(both)).body())
        .contains("structured_outputs and response_format are both given; expected one");
  }

  @Test
  void anOptionalToolAndAFormatAllowEitherOne() throws Exception {
    String format =
        ", \"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"schema\":"
            + " {\"enum\": [1, 2]}}}, \"seed\": ";
    for (int seed = 0; seed < 8; seed++) {
      JsonObject answer = choice(server.ask(CHAT, request(TOOLS + format + seed)));
      JsonObject message = answer.getAsJsonObject("message");
      if (answer.get("finish_reason").getAsString().equals("tool_calls")) {
        assertThat(message.getAsJsonArray("tool_calls")).hasSize(1);
      } else {
        assertThat(message.get("content").getAsString()).isIn("1", "2");
      }
    }
  }

  @Test
  void aRequiredCallIsMadeWithItsArguments() throws Exception {
    JsonObject answer = server.ask(CHAT, request(TOOLS + ", \"tool_choice\": \"required\""));
    assertThat(choice(answer).get("finish_reason").getAsString()).isEqualTo("tool_calls");
    JsonObject message = choice(answer).getAsJsonObject("message");
    assertThat(message.get("content").isJsonNull()).isTrue();
    JsonObject call = message.getAsJsonArray("tool_calls").get(0).getAsJsonObject();
    JsonObject function = call.getAsJsonObject("function");
    assertThat(function.get("name").getAsString()).isEqualTo("weather");
    JsonObject arguments =
        JsonParser.parseString(function.get("arguments").getAsString()).getAsJsonObject();
    assertThat(arguments.get("city").getAsString()).isIn("Oslo", "Rome");
    assertThat(arguments.get("days").getAsInt()).isBetween(1, 9);
  }

  @Test
  void aCallStreamsWithItsIndex() throws Exception {
    String fields =
        TOOLS
            + ", \"stream\": true, \"tool_choice\": {\"type\": \"function\", \"function\":"
            + " {\"name\": \"weather\"}}";
    List<JsonObject> calls =
        server.events(CHAT, request(fields)).stream()
            .map(event -> choice(event).getAsJsonObject("delta"))
            .filter(delta -> delta.has("tool_calls"))
            .map(delta -> delta.getAsJsonArray("tool_calls").get(0).getAsJsonObject())
            .toList();
    assertThat(calls).allMatch(call -> call.get("index").getAsInt() == 0);
    assertThat(calls.getFirst().get("id").getAsString()).startsWith("call_");
    assertThat(calls.stream().skip(1)).noneMatch(call -> call.has("id"));
    assertThat(function(calls.getFirst()).get("name").getAsString()).isEqualTo("weather");
    String arguments =
        calls.stream()
            .map(call -> function(call).get("arguments").getAsString())
            .collect(Collectors.joining());
    assertThat(JsonParser.parseString(arguments).getAsJsonObject().get("days").getAsInt())
        .isBetween(1, 9);
  }

  private static JsonObject function(JsonObject call) {
    return call.getAsJsonObject("function");
  }

  @Test
  void aFunctionThatIsNotThereCannotBeChosen() throws Exception {
    HttpResponse<String> response =
        server.post(
            CHAT,
            request(
                TOOLS
                    + ", \"tool_choice\": {\"type\": \"function\", \"function\": {\"name\":"
                    + " \"news\"}}"));
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("tool_choice is 'news'; the tools are [weather]");
  }

  @Test
  void logprobsComeWithTokens() throws Exception {
    JsonObject answer =
        server.ask(
            CHAT,
            "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"max_tokens\": 5,"
                + " \"temperature\": 0, \"logprobs\": true, \"top_logprobs\": 3}");
    JsonArray content = choice(answer).getAsJsonObject("logprobs").getAsJsonArray("content");
    assertThat(content).hasSize(5);
    for (var element : content) {
      JsonObject token = element.getAsJsonObject();
      JsonObject first = token.getAsJsonArray("top_logprobs").get(0).getAsJsonObject();
      assertThat(first.get("token")).isEqualTo(token.get("token"));
      assertThat(token.get("logprob").getAsDouble()).isNegative();
      assertThat(token.getAsJsonArray("top_logprobs")).hasSize(3);
    }
    JsonObject text =
        server.ask("/v1/completions", "{\"prompt\": \"Once\", \"max_tokens\": 4, \"logprobs\": 2}");
    assertThat(choice(text).getAsJsonObject("logprobs").getAsJsonArray("token_logprobs"))
        .hasSize(4);
  }

  @Test
  void aBiasDecidesTheNextToken() throws Exception {
    int token =
        server
            .ask("/tokenize", "{\"content\": \" sea\"}")
            .getAsJsonArray("tokens")
            .get(0)
            .getAsInt();
    String text =
        server.complete(
            "{\"prompt\": \"The\", \"max_tokens\": 3, \"temperature\": 0, \"logit_bias\": {\"%d\":"
                    .formatted(token)
                + " 100}}");
    assertThat(text).isEqualTo(" sea sea sea");
    String varied =
        server.complete(
            "{\"prompt\": \"The\", \"max_tokens\": 3, \"temperature\": 0, \"presence_penalty\": 2,"
                + " \"frequency_penalty\": 2, \"logit_bias\": {\"%d\": 12}}".formatted(token));
    assertThat(varied).isNotEqualTo(" sea sea sea");
  }
}
