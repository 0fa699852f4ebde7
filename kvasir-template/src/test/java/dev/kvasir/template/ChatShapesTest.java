package dev.kvasir.template;

import static dev.kvasir.template.Rendering.map;
import static dev.kvasir.template.Rendering.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Templates in the style of the common model families. */
class ChatShapesTest {
  private static final Map<String, Object> SYSTEM = message("system", "Be brief. ");
  private static final Map<String, Object> USER = message("user", " Hi <you>\n");
  private static final Map<String, Object> ASSISTANT = message("assistant", "Hello!");
  private static final Map<String, Object> WEATHER =
      map(
          "type",
          "function",
          "function",
          map("name", "weather", "parameters", map("city", map("type", "string"))));

  private static String render(String source, Map<String, Object> variables) {
    var all = map("bos_token", "<s>", "eos_token", "</s>", "add_generation_prompt", true);
    all.putAll(variables);
    return JinjaTemplate.parse(source, "shape").render(all);
  }

  @Test
  void chatMl() {
    String source =
        "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>'"
            + " + '\\n' }}{% endfor %}{% if add_generation_prompt %}"
            + "{{ '<|im_start|>assistant\\n' }}{% endif %}";
    assertThat(render(source, map("messages", List.of(SYSTEM, USER))))
        .isEqualTo(
            "<|im_start|>system\nBe brief. <|im_end|>\n<|im_start|>user\n Hi <you>\n<|im_end|>\n"
                + "<|im_start|>assistant\n");
  }

  @Test
  void smallModelWithAPreparedSystemMessage() {
    String source =
        """
        {% for message in messages %}
          {%- if loop.first and messages[0]['role'] != 'system' -%}
            {{ '<|im_start|>system\\nYou are small.<|im_end|>\\n' }}
          {%- endif -%}
          {{ '<|im_start|>' + message['role'] + '\\n' + message['content']|trim + '<|im_end|>\\n' }}
        {%- endfor %}
        {%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}
        """;
    assertThat(render(source, map("messages", List.of(USER))))
        .isEqualTo(
            "<|im_start|>system\nYou are small.<|im_end|>\n<|im_start|>user\nHi <you><|im_end|>\n"
                + "<|im_start|>assistant\n");
  }

  @Test
  void headersAndTheSystemMessageAside() {
    String source =
        """
        {{- bos_token }}
        {%- if not date_string is defined %}{% set date_string = "26 Jul 2024" %}{% endif %}
        {%- if messages[0]['role'] == 'system' %}
            {%- set system_message = messages[0]['content']|trim %}
            {%- set messages = messages[1:] %}
        {%- else %}
            {%- set system_message = "" %}
        {%- endif %}

        {{- "<|start|>system<|end|>\\n\\nToday: " + date_string + "\\n\\n" }}
        {%- if tools is defined and tools is not none %}
            {%- for t in tools %}
                {{- t | tojson(indent=4) }}
                {{- "\\n\\n" }}
            {%- endfor %}
        {%- endif %}
        {{- system_message }}
        {{- "<|eot|>" }}
        {%- for message in messages %}
            {%- if message.role in ['user', 'assistant'] and 'tool_calls' not in message %}
                {{- '<|start|>' + message['role'] + '<|end|>\\n\\n' + message['content']|trim }}
                {{- '<|eot|>' }}
            {%- elif 'tool_calls' in message %}
                {%- if not message.tool_calls|length == 1 %}
                    {{- raise_exception("One call at a time!") }}
                {%- endif %}
                {%- set call = message.tool_calls[0].function %}
                {{- '{"name": "' + call.name + '", ' }}
                {{- '"parameters": ' }}
                {{- call.arguments | tojson }}
                {{- "}" }}
            {%- endif %}
        {%- endfor %}
        """;
    var call = map("function", map("name", "weather", "arguments", map("city", "Bern", "n", 1.5)));
    var asked = map("role", "assistant", "content", null, "tool_calls", List.of(call));
    assertThat(render(source, map("messages", List.of(SYSTEM, USER, asked), "tools", null)))
        .isEqualTo(
            "<s><|start|>system<|end|>\n\nToday: 26 Jul 2024\n\nBe brief.<|eot|>"
                + "<|start|>user<|end|>\n\nHi <you><|eot|>"
                + "{\"name\": \"weather\", \"parameters\": {\"city\": \"Bern\", \"n\": 1.5}}");
    assertThat(render(source, map("messages", List.of(USER), "tools", List.of(WEATHER))))
        .contains("Today: 26 Jul 2024\n\n{\n    \"type\": \"function\",\n    \"function\": {\n");
    var twice = map("role", "assistant", "tool_calls", List.of(call, call));
    assertThatThrownBy(() -> render(source, map("messages", List.of(USER, twice))))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining("One call at a time!");
  }

  @Test
  void instructionsInBracketsWithAlternatingRoles() {
    String source =
        """
        {%- set ns = namespace(index=0) %}
        {%- for message in messages if message.role != "tool" %}
            {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
                {{- raise_exception("Roles must alternate") }}
            {%- endif %}
            {%- set ns.index = ns.index + 1 %}
        {%- endfor %}
        {{- bos_token }}
        {%- for message in messages %}
            {%- if message["role"] == "user" %}
                {%- if loop.last and tools is defined %}
                    {{- "[TOOLS] [" }}
                    {%- for tool in tools %}
                        {%- for key, val in tool.function.items() if key != "return" %}
                            {{- '"' + key + '": ' }}
                            {{- '"' + val + '"' if val is string else val|tojson }}
                            {{- ", " if not loop.last }}
                        {%- endfor %}
                    {%- endfor %}
                    {{- "]" }}
                {%- endif %}
                {{- "[INST] " + message["content"] + "[/INST]" }}
            {%- else %}
                {{- " " + message["content"]|trim + eos_token }}
            {%- endif %}
        {%- endfor %}
        """;
    var talk = List.of(USER, ASSISTANT, message("user", "Bye"));
    assertThat(render(source, map("messages", talk)))
        .isEqualTo("<s>[INST]  Hi <you>\n[/INST] Hello!</s>[INST] Bye[/INST]");
    assertThat(render(source, map("messages", List.of(USER), "tools", List.of(WEATHER))))
        .isEqualTo(
            "<s>[TOOLS] [\"name\": \"weather\", \"parameters\": {\"city\": {\"type\": \"string\"}}]"
                + "[INST]  Hi <you>\n[/INST]");
    assertThatThrownBy(() -> render(source, map("messages", List.of(USER, USER))))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining("Roles must alternate");
  }

  @Test
  void thinkingAndToolResponses() {
    String source =
        """
        {%- set ns = namespace(searching=true, last=messages|length - 1) %}
        {%- for message in messages[::-1] %}
            {%- set index = (messages|length - 1) - loop.index0 %}
            {%- if ns.searching and message.role == "user" %}
                {%- set ns.searching = false %}
                {%- set ns.last = index %}
            {%- endif %}
        {%- endfor %}
        {%- for message in messages %}
            {%- if message.role == "assistant" %}
                {%- set content = message.content %}
                {%- set thought = '' %}
                {%- if '</think>' in content %}
                    {%- set thought = content.split('</think>')[0].rstrip('\\n') %}
                    {%- set thought = thought.split('<think>')[-1].lstrip('\\n') %}
                    {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
                {%- endif %}
                {{- '<a>' }}
                {%- if loop.index0 > ns.last and thought %}
                    {{- '<think>' + thought + '</think>' }}
                {%- endif %}
                {{- content + '</a>' }}
            {%- elif message.role == "tool" %}
                {%- if loop.first or messages[loop.index0 - 1].role != "tool" %}{{- '<u>' }}{% endif %}
                {{- '[' + message.content + ']' }}
                {%- if loop.last or messages[loop.index0 + 1].role != "tool" %}{{- '</u>' }}{% endif %}
            {%- else %}
                {{- '<u>' + message.content + '</u>' }}
            {%- endif %}
        {%- endfor %}
        {%- if add_generation_prompt %}
            {{- '<a>' }}
            {%- if enable_thinking is defined and enable_thinking is false %}
                {{- '<think></think>' }}
            {%- endif %}
        {%- endif %}
        """;
    var thought = message("assistant", "<think>\nhm\n</think>\n\nYes.");
    var talk =
        List.of(
            message("user", "a"),
            thought,
            message("user", "b"),
            thought,
            message("tool", "1"),
            message("tool", "2"));
    assertThat(render(source, map("messages", talk, "enable_thinking", false)))
        .isEqualTo(
            "<u>a</u><a>Yes.</a><u>b</u><a><think>hm</think>Yes.</a><u>[1][2]</u>"
                + "<a><think></think>");
  }

  @Test
  void contentPartsAndARecursiveMacro() {
    String source =
        """
        {%- macro text(content) -%}
            {%- if content is string -%}
                {{- content -}}
            {%- elif content is iterable and content is not mapping -%}
                {%- for part in content -%}
                    {{- part.text if part.type == 'text' else '<' ~ part.type ~ '>' -}}
                {%- endfor -%}
            {%- endif -%}
        {%- endmacro -%}
        {%- macro schema(s, depth=0) -%}
            {%- for key, value in s|dictsort -%}
                {{- ' ' * depth ~ key ~ ':' -}}
                {%- if value is mapping -%}{{- '\\n' ~ schema(value, depth + 1) -}}
                {%- else -%}{{- value ~ '\\n' -}}{%- endif -%}
            {%- endfor -%}
        {%- endmacro -%}
        {%- for m in messages -%}{{ m.role|upper }}: {{ text(m.content) }}
        {% endfor -%}
        {{- schema({'b': 1, 'a': {'d': true, 'c': none}}) -}}
        """;
    var parts = List.of(map("type", "image"), map("type", "text", "text", "What?"));
    assertThat(render(source, map("messages", List.of(message("user", parts), ASSISTANT))))
        .isEqualTo("USER: <image>What?\nASSISTANT: Hello!\na:\n c:None\n d:True\nb:1\n");
  }
}
