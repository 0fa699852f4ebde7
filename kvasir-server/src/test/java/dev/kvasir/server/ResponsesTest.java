package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The Responses API as clients use it. */
class ResponsesTest {
  private static final String PATH = "/v1/responses";
  private static final String FEW = "\"temperature\": 0, \"max_output_tokens\": 12";
  private static final String MANY = "\"temperature\": 0, \"max_output_tokens\": 200";
  private static final String TOOLS =
      """
      "tools": [{"type": "web_search"}, {"type": "function", "name": "weather", "parameters":
       {"type": "object", "properties": {"city": {"enum": ["Oslo", "Rome"]}}, "required": ["city"]}}],
      "tool_choice": "required\"""";

  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.startWhole();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static JsonObject create(String fields) throws Exception {
    return server.ask(PATH, "{%s, %s}".formatted(FEW, fields));
  }

  private static JsonObject item(JsonObject response, int index) {
    return response.getAsJsonArray("output").get(index).getAsJsonObject();
  }

  private static String text(JsonObject response) {
    return item(response, 0)
        .getAsJsonArray("content")
        .get(0)
        .getAsJsonObject()
        .get("text")
        .getAsString();
  }

  private static String chat(String messages) throws Exception {
    return server
        .ask(
            "/v1/chat/completions",
            "{\"temperature\": 0, \"max_tokens\": 12, \"messages\": [%s]}".formatted(messages))
        .getAsJsonArray("choices")
        .get(0)
        .getAsJsonObject()
        .getAsJsonObject("message")
        .get("content")
        .getAsString();
  }

  private static JsonObject send(String method, String path) throws Exception {
    HttpResponse<String> response =
        server.send(server.to(path).method(method, HttpRequest.BodyPublishers.noBody()).build());
    JsonObject body = JsonParser.parseString(response.body()).getAsJsonObject();
    body.addProperty("http", response.statusCode());
    return body;
  }

  @Test
  void aTextIsAnsweredAsChatCompletionsAnswerIt() throws Exception {
    JsonObject response =
        create("\"input\": \"Tell me of the sea.\", \"instructions\": \"Be calm.\"");
    String expected =
        chat(
            """
            {"role": "system", "content": "Be calm."},
            {"role": "user", "content": "Tell me of the sea."}""");
    assertThat(text(response)).isEqualTo(expected);
    assertThat(response.get("object").getAsString()).isEqualTo("response");
    assertThat(response.get("status").getAsString()).isEqualTo("incomplete");
    assertThat(response.getAsJsonObject("incomplete_details").get("reason").getAsString())
        .isEqualTo("max_output_tokens");
    JsonObject usage = response.getAsJsonObject("usage");
    assertThat(usage.get("output_tokens").getAsInt()).isEqualTo(12);
    assertThat(usage.get("total_tokens").getAsInt())
        .isEqualTo(12 + usage.get("input_tokens").getAsInt());
  }

  @Test
  void aStreamHasAllEventsInOrder() throws Exception {
    String fields = "\"input\": \"Tell me of the sea.\"";
    JsonObject whole = create(fields);
    List<JsonObject> events =
        server.events(PATH, "{%s, %s, \"stream\": true}".formatted(FEW, fields));
    List<String> types = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < events.size(); i++) {
      JsonObject event = events.get(i);
      assertThat(event.get("sequence_number").getAsInt()).isEqualTo(i);
      String type = event.get("type").getAsString();
      if (type.equals("response.output_text.delta")) {
        text.append(event.get("delta").getAsString());
      }
      if (types.isEmpty() || !types.getLast().equals(type)) {
        types.add(type);
      }
    }
    assertThat(types)
        .containsExactly(
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.incomplete");
    assertThat(text).hasToString(text(whole));
    JsonObject last = events.getLast().getAsJsonObject("response");
    assertThat(text(last)).isEqualTo(text(whole));
    assertThat(events.getFirst().getAsJsonObject("response").get("id")).isEqualTo(last.get("id"));
  }

  @Test
  void aToolIsCalledAndItsResultRead() throws Exception {
    JsonObject response =
        server.ask(PATH, "{%s, \"input\": \"Weather?\", %s}".formatted(MANY, TOOLS));
    JsonObject call = item(response, 0);
    assertThat(call.get("type").getAsString()).isEqualTo("function_call");
    assertThat(call.get("name").getAsString()).isEqualTo("weather");
    assertThat(response.get("status").getAsString()).isEqualTo("completed");
    String city =
        JsonParser.parseString(call.get("arguments").getAsString())
            .getAsJsonObject()
            .get("city")
            .getAsString();
    assertThat(city).isIn("Oslo", "Rome");
    String output =
        """
        {"type": "function_call_output", "call_id": %s, "output": "Rain"}"""
            .formatted(call.get("call_id"));
    JsonObject byItems =
        create(
            "\"input\": [{\"role\": \"user\", \"content\": \"Weather?\"}, %s, %s]"
                .formatted(call, output));
    JsonObject byId =
        create(
            "\"previous_response_id\": %s, \"input\": [%s]".formatted(response.get("id"), output));
    JsonObject byReference =
        create(
            "\"input\": [{\"role\": \"user\", \"content\": \"Weather?\"},"
                + " {\"type\": \"item_reference\", \"id\": %s}, %s]"
                    .formatted(call.get("id"), output));
    assertThat(text(byId)).isEqualTo(text(byItems)).isEqualTo(text(byReference));
  }

  @Test
  void aCallStreamsItsArguments() throws Exception {
    List<JsonObject> events =
        server.events(
            PATH, "{%s, \"input\": \"Weather?\", %s, \"stream\": true}".formatted(MANY, TOOLS));
    StringBuilder arguments = new StringBuilder();
    String done = null;
    for (JsonObject event : events) {
      switch (event.get("type").getAsString()) {
        case "response.function_call_arguments.delta" ->
            arguments.append(event.get("delta").getAsString());
        case "response.function_call_arguments.done" -> done = event.get("arguments").getAsString();
        default -> {}
      }
    }
    assertThat(arguments).hasToString(done).contains("city");
    assertThat(events.getLast().get("type").getAsString()).isEqualTo("response.completed");
  }

  @Test
  void anAnswerKeepsToItsSchema() throws Exception {
    JsonObject response =
        create(
            """
            "input": "The tide?", "text": {"format": {"type": "json_schema", "name": "tide",
             "schema": {"type": "object", "properties": {"tide": {"enum": ["low", "high"]}},
             "required": ["tide"]}}}""");
    assertThat(JsonParser.parseString(text(response)).getAsJsonObject().get("tide").getAsString())
        .isIn("low", "high");
  }

  @Test
  void aStoredResponseIsContinuedListedAndDeleted() throws Exception {
    JsonObject first = create("\"input\": \"Tell me of the sea.\"");
    String id = first.get("id").getAsString();
    JsonObject second = create("\"input\": \"And then?\", \"previous_response_id\": \"" + id + '"');
    JsonObject answer = new JsonObject();
    answer.addProperty("role", "assistant");
    answer.addProperty("content", text(first));
    String expected =
        chat(
            "{\"role\": \"user\", \"content\": \"Tell me of the sea.\"}, %s,".formatted(answer)
                + " {\"role\": \"user\", \"content\": \"And then?\"}");
    assertThat(text(second)).isEqualTo(expected);
    assertThat(
            second
                .getAsJsonObject("usage")
                .getAsJsonObject("input_tokens_details")
                .get("cached_tokens")
                .getAsInt())
        .isPositive();
    assertThat(send("GET", PATH + "/" + id).get("output")).isEqualTo(first.get("output"));
    JsonArray input = send("GET", PATH + "/" + id + "/input_items").getAsJsonArray("data");
    assertThat(input).hasSize(1);
    assertThat(send("DELETE", PATH + "/" + id).get("deleted").getAsBoolean()).isTrue();
    assertThat(send("GET", PATH + "/" + id).get("http").getAsInt()).isEqualTo(404);
    // A later response has the whole conversation.
    JsonObject third =
        create("\"input\": \"Go on.\", \"previous_response_id\": " + second.get("id"));
    assertThat(third.getAsJsonObject("usage").get("input_tokens").getAsInt())
        .isGreaterThan(second.getAsJsonObject("usage").get("total_tokens").getAsInt());
  }

  @Test
  void aResponseIsNotStoredAgainstTheWill() throws Exception {
    JsonObject response = create("\"input\": \"Hush\", \"store\": false");
    String path = PATH + "/" + response.get("id").getAsString();
    assertThat(send("GET", path).get("http").getAsInt()).isEqualTo(404);
    assertThat(send("DELETE", path).get("http").getAsInt()).isEqualTo(404);
  }

  @Test
  void aResponseInTheBackgroundIsPolledAndCancelled() throws Exception {
    JsonObject queued = create("\"input\": \"Hello\", \"background\": true");
    String path = PATH + "/" + queued.get("id").getAsString();
    JsonObject polled = send("GET", path);
    while (polled.get("status").getAsString().matches("queued|in_progress")) {
      Thread.sleep(10);
      polled = send("GET", path);
    }
    assertThat(polled.get("status").getAsString()).isEqualTo("incomplete");
    assertThat(text(polled)).isNotEmpty();
    JsonObject endless =
        server.ask(
            PATH,
            "{\"input\": \"Count\", \"background\": true, \"temperature\": 0,"
                + " \"max_output_tokens\": 9000}");
    path = PATH + "/" + endless.get("id").getAsString();
    assertThat(send("POST", path + "/cancel").get("status").getAsString()).isEqualTo("cancelled");
    while (server.running() > 0) {
      Thread.sleep(10);
    }
    assertThat(send("GET", path).get("status").getAsString()).isEqualTo("cancelled");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"x\": 1 | 400 | input is missing; expected a text or a list of items",
        "\"input\": 5 | 400 | input is 5; expected a text or a list of items",
        "\"input\": \"a\", \"max_output_tokens\": 0 | 400 | max_output_tokens is 0; expected a whole number from 1 to 2147483647",
        "\"input\": \"a\", \"previous_response_id\": \"resp_x\" | 404 | there is no stored response 'resp_x'",
        "\"input\": [{\"type\": \"item_reference\", \"id\": \"msg_x_0\"}] | 404 | there is no item 'msg_x_0'",
        "\"input\": [{\"type\": \"image\"}] | 400 | input[0].type is \"image\"; expected a message, reasoning, function_call, function_call_output, custom_tool_call, custom_tool_call_output or item_reference",
        "\"input\": \"a\", \"background\": true, \"stream\": true | 400 | background and stream are both true; expected at most one of them",
      })
  void errorsAreOneSentence(String fields, int status, String sentence) throws Exception {
    HttpResponse<String> response = server.post(PATH, "{" + fields + "}");
    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(
            JsonParser.parseString(response.body())
                .getAsJsonObject()
                .getAsJsonObject("error")
                .get("message")
                .getAsString())
        .isEqualTo(sentence);
  }
}
