package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.ToolFormat;
import java.net.http.HttpResponse;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tool formats and template variables of requests. */
class ToolFormatsTest {
  private static final String CHAT = "/v1/chat/completions";
  private static final String REQUEST =
      """
      {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 150, "seed": 1, %s
       "tools": [{"type": "function", "function": {"name": "weather", "parameters":
         {"type": "object", "properties": {"days": {"type": "integer", "minimum": 1, "maximum": 9}},
          "required": ["days"]}}}]}""";

  private static TestServer server(ToolFormat format) {
    return TestServer.start(256 << 20, o -> o.withToolFormat(Optional.of(format)));
  }

  @ParameterizedTest
  @EnumSource(names = {"MISTRAL_ARGS", "QWEN3_CODER", "LFM2"})
  void aRequiredCallHasTheChosenFormat(ToolFormat format) throws Exception {
    try (TestServer server = server(format)) {
      JsonObject choice =
          server
              .ask(CHAT, REQUEST.formatted("\"tool_choice\": \"required\","))
              .getAsJsonArray("choices")
              .get(0)
              .getAsJsonObject();
      assertThat(choice.get("finish_reason").getAsString()).isEqualTo("tool_calls");
      JsonObject call =
          choice.getAsJsonObject("message").getAsJsonArray("tool_calls").get(0).getAsJsonObject();
      assertThat(call.get("id").getAsString())
          .matches(format == ToolFormat.MISTRAL_ARGS ? "[0-9a-z]{9}" : "call_[0-9a-z]+");
      String arguments = call.getAsJsonObject("function").get("arguments").getAsString();
      assertThat(JsonParser.parseString(arguments).getAsJsonObject().get("days").getAsInt())
          .isBetween(1, 9);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "\"parallel_tool_calls\": 1; parallel_tool_calls is 1; expected true or false",
        "\"enable_thinking\": \"no\"; enable_thinking is \"no\"; expected true or false",
        "\"reasoning_effort\": 3; reasoning_effort is 3; expected a string",
        "\"chat_template_kwargs\": []; chat_template_kwargs is []; expected an object",
      })
  void aWrongVariableIsRefused(String field, String start, String end) throws Exception {
    try (TestServer server = TestServer.start()) {
      HttpResponse<String> response = server.post(CHAT, REQUEST.formatted(field + ","));
      assertThat(response.statusCode()).isEqualTo(400);
      assertThat(JsonParser.parseString(response.body()).getAsJsonObject().getAsJsonObject("error"))
          .satisfies(
              error ->
                  assertThat(error.get("message").getAsString()).isEqualTo(start + "; " + end));
    }
  }

  @Test
  void templateVariablesAreAccepted() throws Exception {
    try (TestServer server = TestServer.start()) {
      String fields =
          "\"enable_thinking\": false, \"reasoning_effort\": \"low\", \"parallel_tool_calls\":"
              + " false, \"chat_template_kwargs\": {\"a\": [1, null]},";
      assertThat(server.post(CHAT, REQUEST.formatted(fields)).statusCode()).isEqualTo(200);
    }
  }
}
