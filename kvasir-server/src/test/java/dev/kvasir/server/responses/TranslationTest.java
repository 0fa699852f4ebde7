package dev.kvasir.server.responses;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.server.api.StreamEvent;
import dev.kvasir.server.responses.ResponsesReader.Translated;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Requests as agents send them, and the items of their responses. */
class TranslationTest {
  private final ResponseStore store = new ResponseStore(1 << 20, ResponseArchive.NONE);

  private Translated read(String json) {
    return new ResponsesReader(store).read(Fields.parse(json), "");
  }

  /** The shape of what a coding agent sends, with tools of all kinds. */
  private static final String AGENT =
      """
      {"model": "m", "instructions": "You are an agent.", "store": false, "stream": true,
       "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k",
       "reasoning": {"effort": "low", "summary": "auto"}, "max_output_tokens": 7,
       "text": {"verbosity": "low", "format": {"type": "json_object"}},
       "tools": [
         {"type": "function", "name": "shell", "description": "Runs", "strict": false,
          "parameters": {"type": "object", "properties": {}}},
         {"type": "custom", "name": "patch", "description": "Edits",
          "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"}},
         {"type": "web_search"}],
       "tool_choice": "auto",
       "input": [
         {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Rules"}]},
         {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "Fix"}, {"type": "input_text", "text": " it"}]},
         {"type": "reasoning", "summary": [], "encrypted_content": "aG1t"},
         {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Ok"}]},
         {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"},
         {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*"},
         {"type": "function_call_output", "call_id": "c1", "output": "done"},
         {"type": "custom_tool_call_output", "call_id": "c2",
          "output": [{"type": "input_text", "text": "well"}]},
         {"type": "reasoning", "summary": [{"type": "summary_text", "text": "so"}]},
         {"type": "function_call", "call_id": "c3", "name": "shell", "arguments": "{}"}]}""";

  @Test
  void itemsOfOneTurnAreOneMessage() {
    JsonObject chat = read(AGENT).chat().json();
    JsonObject expected =
        JsonParser.parseString(
                """
                {"messages": [
                  {"role": "system", "content": "You are an agent.\\n\\nRules"},
                  {"role": "user", "content": "Fix it"},
                  {"role": "assistant", "reasoning_content": "hmm", "content": "Ok", "tool_calls": [
                    {"id": "c1", "type": "function",
                     "function": {"name": "shell", "arguments": "{}"}},
                    {"id": "c2", "type": "function",
                     "function": {"name": "patch", "arguments": "{\\"input\\":\\"*\\"}"}}]},
                  {"role": "tool", "tool_call_id": "c1", "content": "done"},
                  {"role": "tool", "tool_call_id": "c2", "content": "well"},
                  {"role": "assistant", "reasoning_content": "so", "tool_calls": [
                    {"id": "c3", "type": "function",
                     "function": {"name": "shell", "arguments": "{}"}}]}]}""")
            .getAsJsonObject();
    assertThat(chat.get("messages")).isEqualTo(expected.get("messages"));
    assertThat(chat.get("max_completion_tokens").getAsInt()).isEqualTo(7);
    assertThat(chat.get("reasoning_effort").getAsString()).isEqualTo("low");
    assertThat(chat.getAsJsonObject("response_format").get("type").getAsString())
        .isEqualTo("json_object");
    assertThat(chat.get("prompt_cache_key").getAsString()).isEqualTo("k");
    assertThat(chat.getAsJsonArray("tools")).hasSize(2);
    assertThat(chat.getAsJsonArray("tools").get(1).toString()).contains("start: x");
  }

  @Test
  void onlyAllowedToolsRemain() {
    String choice =
        "\"tool_choice\": {\"type\": \"allowed_tools\", \"mode\": \"required\", \"tools\":"
            + " [{\"type\": \"function\", \"name\": \"shell\"}]}";
    JsonObject chat = read(AGENT.replace("\"tool_choice\": \"auto\"", choice)).chat().json();
    assertThat(chat.getAsJsonArray("tools")).hasSize(1);
    assertThat(chat.get("tool_choice").getAsString()).isEqualTo("required");
  }

  @Test
  void outputItemsAreThoseOfTheirTools() {
    ResponsesFormat format = new ResponsesFormat(read(AGENT), "", "m", null, store);
    List<StreamEvent> events = new ArrayList<>(format.begin(3, () -> {}));
    events.addAll(format.events(new CompletionEvent.Reasoning(0, "hmm")));
    String arguments = "{\"input\": \"a\\nb\"}";
    for (CompletionEvent event :
        List.of(
            new CompletionEvent.ToolCallStart(0, 0, "call_1", "patch"),
            new CompletionEvent.ToolCallArguments(0, 0, arguments),
            new CompletionEvent.ToolCall(0, 0, "call_1", "patch", arguments))) {
      events.addAll(format.events(event));
    }
    JsonObject response = format.snapshot();
    JsonObject reasoning = response.getAsJsonArray("output").get(0).getAsJsonObject();
    assertThat(reasoning.get("encrypted_content").getAsString()).isEqualTo("aG1t");
    JsonObject call = response.getAsJsonArray("output").get(1).getAsJsonObject();
    assertThat(call.get("type").getAsString()).isEqualTo("custom_tool_call");
    assertThat(call.get("call_id").getAsString()).isEqualTo("call_1");
    assertThat(call.get("input").getAsString()).isEqualTo("a\nb");
    assertThat(events.stream().map(StreamEvent::name))
        .containsExactly(
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.reasoning_text.delta",
            "response.reasoning_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.custom_tool_call_input.delta",
            "response.custom_tool_call_input.done",
            "response.output_item.done");
    String id = format.id();
    assertThat(store.response("", id)).isPresent();
    assertThat(store.response("other tenant", id)).isEmpty();
    List<StreamEvent> last = format.fail(ApiException.stopping());
    assertThat(last.getLast().name()).isEqualTo("response.failed");
    assertThat(last.getLast().data()).contains("\"message\":\"the server is shutting down\"");
    assertThat(store.response("", id)).isEmpty(); // store is false
  }

  private static StoredResponse stored(String id, int length) {
    JsonObject response =
        JsonParser.parseString(
                "{\"id\": \"%s\", \"output\": [{\"id\": \"msg_%s_0\", \"text\": \"%s\"}]}"
                    .formatted(id, id.substring(5), "x".repeat(length)))
            .getAsJsonObject();
    return new StoredResponse(response, List.of(), List.of());
  }

  @Test
  void theLeastRecentlyUsedResponsesAreDropped() {
    ResponseStore small = new ResponseStore(10_000, ResponseArchive.NONE);
    for (String id : List.of("resp_a", "resp_b", "resp_c")) {
      small.add("", id, stored(id, 1200));
      small.find("", "resp_a");
    }
    assertThat(small.find("", "resp_b")).isPresent();
    small.add("", "resp_d", stored("resp_d", 1200));
    assertThat(small.find("", "resp_c")).isEmpty();
    assertThat(small.find("", "resp_a").map(StoredResponse::response))
        .isEqualTo(Optional.of(stored("resp_a", 1200).response()));
    assertThat(small.item("", "msg_a_0")).isPresent();
    assertThat(small.item("", "msg_a_1")).isEmpty();
    small.add("", "resp_e", stored("resp_e", 20_000));
    assertThat(small.find("", "resp_e")).isEmpty();
  }
}
