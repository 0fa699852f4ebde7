package dev.kvasir.chat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.chat.CallVariables.Form;
import dev.kvasir.chat.syntax.MessageSyntax;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.SyntheticTokenizer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls of earlier messages reach the prompt, whatever form a template reads them in. */
class CallVariablesTest {
  private static final String LOOP =
      "{% for m in messages %}{{ m.role }}: {% if m.tool_calls and CONDITION %}"
          + "{% for call in m.tool_calls %}<tool_call>{\"name\": \"{{ call.function.name }}\","
          + " \"arguments\": {{ ARGUMENTS }}}</tool_call>{% endfor %}{% else %}{{ m.content }}"
          + "{% endif %}\n{% endfor %}";

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "true; call.function.arguments | tojson; OBJECT",
        "m.content is none; call.function.arguments | tojson; OBJECT_WITHOUT_CONTENT",
        "true; ~call.function.arguments; TEXT",
        "m.content is none; ~call.function.arguments; TEXT_WITHOUT_CONTENT",
        "false; 0; CONTENT",
      })
  void aTemplateIsGivenWhatItReads(String condition, String arguments, Form form) {
    String source =
        LOOP.replace("CONDITION", condition).replace("ARGUMENTS", arguments.replace("~", "'' + "));
    ChatTemplate template = ChatTemplate.of(source, "test", SyntheticTokenizer.of(List.of()));
    MessageSyntax syntax = MessageSyntax.recognize(Optional.of(source), Optional.empty());
    CallVariables variables = CallVariables.of(template, syntax);
    assertThat(variables.form()).isEqualTo(form);
    List<Map<String, Object>> messages =
        List.of(
            Map.of("role", "user", "content", "Hello"),
            Map.of(
                "role",
                "assistant",
                "content",
                "",
                "tool_calls",
                List.of(
                    Map.of(
                        "id",
                        "call_1",
                        "function",
                        Map.of("name", "f", "arguments", Map.of("a", 1L))))));
    String text =
        template.render(new ChatTemplate.Input(variables.apply(messages), List.of(), false));
    assertThat(text.replaceAll("\\s", ""))
        .isEqualTo(
            "user:Helloassistant:<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}}</tool_call>");
  }
}
