package dev.kvasir.server.anthropic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.server.api.Fields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MessagesReaderTest {
  @Test
  void anAgentsRequestIsTranslated() {
    // The shape of what a coding agent sends.
    String request =
        """
        {"model": "m", "max_tokens": 9, "stop_sequences": ["END"], "top_k": 5,
         "metadata": {"user_id": "u"}, "thinking": {"type": "enabled", "budget_tokens": 1024},
         "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {}}},
         "system": [{"type": "text", "text": "You are ", "cache_control": {"type": "ephemeral"}},
                    {"type": "text", "text": "an agent."}],
         "tools": [{"name": "shell", "description": "Runs", "input_schema": {"type": "object"},
                    "cache_control": {"type": "ephemeral"}},
                   {"type": "web_search_20250305", "name": "web_search"}],
         "tool_choice": {"type": "tool", "name": "shell", "disable_parallel_tool_use": true},
         "messages": [
           {"role": "user", "content": "Fix it"},
           {"role": "assistant", "content": [
             {"type": "thinking", "thinking": "hmm", "signature": "s"},
             {"type": "text", "text": "Ok"},
             {"type": "tool_use", "id": "t1", "name": "shell", "input": {"a": 1}}]},
           {"role": "user", "content": [
             {"type": "tool_result", "tool_use_id": "t1", "content": [
               {"type": "text", "text": "done"}]},
             {"type": "text", "text": "Go on"}]}]}""";
    JsonObject chat = MessagesReader.chat(Fields.parse(request)).json();
    JsonObject expected =
        JsonParser.parseString(
                """
                {"messages": [
                   {"role": "system", "content": "You are an agent."},
                   {"role": "user", "content": "Fix it"},
                   {"role": "assistant", "content": "Ok", "reasoning_content": "hmm",
                    "tool_calls": [{"id": "t1", "type": "function",
                      "function": {"name": "shell", "arguments": "{\\"a\\":1}"}}]},
                   {"role": "tool", "tool_call_id": "t1", "content": "done"},
                   {"role": "user", "content": "Go on"}],
                 "tools": [{"type": "function", "function": {"name": "shell",
                   "description": "Runs", "parameters": {"type": "object"}}}],
                 "tool_choice": {"type": "function", "function": {"name": "shell"}},
                 "parallel_tool_calls": false, "stop": ["END"], "reasoning_effort": "low",
                 "response_format": {"type": "json_schema", "json_schema": {"schema": {}}},
                 "chat_template_kwargs": {"enable_thinking": true, "thinking": true}}""")
            .getAsJsonObject();
    for (String name : expected.keySet()) {
      assertThat(chat.get(name)).as(name).isEqualTo(expected.get(name));
    }
    assertThat(chat.get("max_tokens").getAsInt()).isEqualTo(9);
    assertThat(chat.get("top_k").getAsInt()).isEqualTo(5);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{} | messages is missing; expected a list of at least one message",
        "{\"messages\": [{\"role\": \"tool\"}]} | messages[0].role is \"tool\"; expected user or assistant",
        "{\"messages\": [{\"role\": \"user\"}]} | messages[0].content is missing; expected a text or a list of blocks",
        "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"image\"}]}]} | messages[0].content[0].type is \"image\"; expected text, document, thinking, tool_use or tool_result",
        "{\"messages\": [{\"role\": \"assistant\", \"content\": \"a\"}]} | the last message is the assistant's; expected one of the user",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}], \"tools\": [{}]} | tools[0].name is missing; expected the tool's name",
      })
  void errorsAreOneSentence(String request, String sentence) {
    assertThatThrownBy(() -> MessagesReader.chat(Fields.parse(request))).hasMessage(sentence);
  }
}
