package dev.kvasir.chat.syntax;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.ToolFormat;
import dev.kvasir.text.PromptTemplate;
import dev.kvasir.text.PromptTemplateException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A call that a template renders into a conversation is parsed back from it. The templates here are
 * the parts of the models' templates that render calls; {@code -Dkvasir.templates=FOLDER} adds a
 * folder of whole templates, such as models/templates of llama.cpp.
 */
class TemplateRoundTripTest {
  private static final String CALLS =
      "{% for message in messages %}{% if message.tool_calls %}{% for call in message.tool_calls %}"
          + "{% set f = call.function %}";
  private static final String END = "{% endfor %}{% endif %}{% endfor %}";
  private static final String NAME_AND_ARGUMENTS =
      "{\"name\": \"{{ f.name }}\", \"arguments\": {{ f.arguments | tojson }}}";

  private record Template(String name, ToolFormat format, String source) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Template template(ToolFormat format, String call) {
    return new Template(format.label(), format, CALLS + call + END);
  }

  static Stream<Template> templates() {
    return Stream.of(
        template(ToolFormat.HERMES, "<tool_call>\n" + NAME_AND_ARGUMENTS + "\n</tool_call>\n"),
        template(
            ToolFormat.QWEN3_CODER,
            "<tool_call>\n<function={{ f.name }}>\n{% for key, value in f.arguments.items() %}"
                + "<parameter={{ key }}>\n"
                + "{{ value if value is string else value | tojson }}\n</parameter>\n"
                + "{% endfor %}</function>\n</tool_call>\n"),
        template(
            ToolFormat.LLAMA3,
            "<|python_tag|>{\"name\": \"{{ f.name }}\", \"parameters\":"
                + " {{ f.arguments | tojson }}}"),
        template(ToolFormat.MISTRAL, "[TOOL_CALLS] [" + NAME_AND_ARGUMENTS + "]"),
        template(
            ToolFormat.MISTRAL_ARGS, "[TOOL_CALLS]{{ f.name }}[ARGS]{{ f.arguments | tojson }}"),
        template(
            ToolFormat.DEEPSEEK_V3,
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{{ f.name }}\n```json\n"
                + "{{ f.arguments | tojson }}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"),
        template(
            ToolFormat.DEEPSEEK_V31,
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{{ f.name }}<｜tool▁sep｜>"
                + "{{ f.arguments | tojson }}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"),
        template(
            ToolFormat.DEEPSEEK_V32,
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"{{ f.name }}\">\n"
                + "{% for key, value in f.arguments.items() %}<｜DSML｜parameter name=\"{{ key }}\""
                + "{% if value is string %} string=\"true\">{{ value }}"
                + "{% else %} string=\"false\">{{ value | tojson }}{% endif %}"
                + "</｜DSML｜parameter>\n{% endfor %}</｜DSML｜invoke>\n</｜DSML｜function_calls>"),
        template(
            ToolFormat.KIMI_K2,
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.{{ f.name }}:0"
                + "<|tool_call_argument_begin|>{{ f.arguments | tojson }}<|tool_call_end|>"
                + "<|tool_calls_section_end|>"),
        template(
            ToolFormat.MINIMAX_M2,
            "<minimax:tool_call>\n<invoke name=\"{{ f.name }}\">\n"
                + "{% for key, value in f.arguments.items() %}<parameter name=\"{{ key }}\">"
                + "{{ value if value is string else value | tojson }}</parameter>\n{% endfor %}"
                + "</invoke>\n</minimax:tool_call>"),
        template(
            ToolFormat.GEMMA4,
            "<|tool_call>call:{{ f.name }}{{ '{' }}{% for key, value in f.arguments.items() %}"
                + "{{ key }}:{% if value is string %}<|\"|>{{ value }}<|\"|>"
                + "{% else %}{{ value | tojson }}{% endif %}{% if not loop.last %},{% endif %}"
                + "{% endfor %}{{ '}' }}<tool_call|>"),
        template(
            ToolFormat.HARMONY,
            "<|start|>assistant to=functions.{{ f.name }}<|channel|>commentary json<|message|>"
                + "{{ f.arguments | tojson }}<|call|>"),
        template(ToolFormat.GRANITE, "<|tool_call|>[" + NAME_AND_ARGUMENTS + "]"),
        template(ToolFormat.PHI4, "<|tool_call|>[" + NAME_AND_ARGUMENTS + "]<|/tool_call|>"),
        template(
            ToolFormat.COMMAND_R,
            "Action: ```json\n[{\"tool_name\": \"{{ f.name }}\", \"parameters\":"
                + " {{ f.arguments | tojson }}}]\n```"),
        template(
            ToolFormat.COMMAND_R7B,
            "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"{{ f.name }}\","
                + " \"parameters\": {{ f.arguments | tojson }}}]<|END_ACTION|>"),
        template(
            ToolFormat.GLM,
            "<tool_call>{{ f.name }}\n{% for key, value in f.arguments.items() %}"
                + "<arg_key>{{ key }}</arg_key>\n"
                + "<arg_value>{{ value if value is string else value | tojson }}</arg_value>\n"
                + "{% endfor %}</tool_call>"),
        template(
            ToolFormat.GEMMA,
            "<start_of_turn>model\n```json\n" + NAME_AND_ARGUMENTS + "\n```<end_of_turn>"),
        template(
            ToolFormat.LFM2,
            "<|tool_call_start|>[{{ f.name }}({% for key, value in f.arguments.items() %}"
                + "{{ key }}={{ value | tojson }}{% if not loop.last %}, {% endif %}{% endfor %})]"
                + "<|tool_call_end|>"));
  }

  @ParameterizedTest
  @MethodSource("templates")
  void aRenderedCallIsParsedBack(Template template) {
    MessageSyntax syntax =
        MessageSyntax.recognize(Optional.of(template.source()), Optional.empty());
    assertThat(syntax.format()).isEqualTo(template.format());
    assertThat(calls(syntax, rendered(template.source(), true)))
        .containsExactly(
            "call:special_function {\"city\":\"K\\\"öln\\n<x>\",\"arg1\":1,\"on\":true}",
            "call:f {\"items\":[1,{\"a\":null}]}");
  }

  private static String rendered(String source, boolean isObject) {
    Map<String, Object> variables = new HashMap<>();
    variables.put("messages", conversation(isObject));
    variables.put("tools", null);
    variables.put("add_generation_prompt", false);
    variables.put("bos_token", "");
    variables.put("eos_token", "");
    variables.put("documents", null);
    return PromptTemplate.parse(source, "template").render(variables);
  }

  private static List<Map<String, Object>> conversation(boolean isObject) {
    Object first =
        isObject
            ? ordered("city", "K\"öln\n<x>", "arg1", 1L, "on", true)
            : "{\"city\": \"K\\\"öln\\n<x>\", \"arg1\": 1, \"on\": true}";
    Map<String, Object> nothing = new HashMap<>();
    nothing.put("a", null);
    Object second =
        isObject ? Map.of("items", List.of(1L, nothing)) : "{\"items\": [1, {\"a\": null}]}";
    return List.of(
        Map.of("role", "user", "content", "Hello"),
        Map.of(
            "role",
            "assistant",
            "content",
            "",
            "tool_calls",
            List.of(call("special_function", first, 1), call("f", second, 2))));
  }

  private static Map<String, Object> ordered(Object... pairs) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      map.put((String) pairs[i], pairs[i + 1]);
    }
    return map;
  }

  private static Map<String, Object> call(String name, Object arguments, int id) {
    return Map.of(
        "id",
        "00000000" + id,
        "type",
        "function",
        "function",
        ordered("name", name, "arguments", arguments));
  }

  private static List<String> calls(MessageSyntax syntax, String text) {
    return ParsedMessage.parse(syntax, ParsedMessage.FUNCTIONS, false, List.of(text))
        .lines()
        .stream()
        .filter(line -> line.startsWith("call:"))
        .toList();
  }

  static Stream<Path> files() throws IOException {
    String folder = System.getProperty("kvasir.templates");
    if (folder == null) {
      return Stream.empty();
    }
    try (Stream<Path> files = Files.list(Path.of(folder))) {
      return files.filter(file -> file.toString().endsWith(".jinja")).sorted().toList().stream();
    }
  }

  /** Templates that write no opening of a format that is known have no calls to find. */
  @ParameterizedTest(allowZeroInvocations = true)
  @MethodSource("files")
  void aCallThatAWholeTemplateRendersIsParsedBack(Path file) throws IOException {
    String source = Files.readString(file);
    MessageSyntax syntax = MessageSyntax.recognize(Optional.of(source), Optional.empty());
    for (boolean isObject : new boolean[] {true, false}) {
      String text;
      try {
        text = rendered(source, isObject);
      } catch (PromptTemplateException e) {
        continue; // it refuses this conversation
      }
      List<String> openings =
          syntax.format() == ToolFormat.HARMONY
              ? List.of("to=functions.")
              : CallSyntax.of(syntax.format()).openings().stream()
                  .map(CallSyntax.Opening::marker)
                  .toList();
      String conversation = text.substring(text.lastIndexOf("Hello"));
      boolean hasCall =
          conversation.contains("special_function")
              && !conversation.contains("{'")
              && !conversation.contains("]<]minimax[>[") // MiniMax M3, which is not supported
              && openings.stream().anyMatch(conversation::contains);
      if (hasCall && isObject) {
        assertThat(calls(syntax, conversation)).as(conversation).isNotEmpty();
      }
    }
  }
}
