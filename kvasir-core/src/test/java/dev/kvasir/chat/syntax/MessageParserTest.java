package dev.kvasir.chat.syntax;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.ToolFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What each format's text means. Texts and meanings are those that the models' documentation, and
 * the tests of llama.cpp and vLLM, give.
 */
class MessageParserTest {
  /**
   * @param template the part of a template that tells the tags of reasoning
   * @param isOpen whether the prompt opened the reasoning
   */
  private record Sample(
      ToolFormat format, String template, boolean isOpen, String text, List<String> expected) {
    @Override
    public String toString() {
      return format + " " + text.replace("\n", "\\n");
    }
  }

  private static Sample sample(ToolFormat format, String text, String... expected) {
    return new Sample(format, "", false, text, List.of(expected));
  }

  private static Sample reasoning(
      ToolFormat format, String template, boolean isOpen, String text, String... expected) {
    return new Sample(format, template, isOpen, text, List.of(expected));
  }

  static Stream<Sample> samples() {
    return Stream.of(
            hermes(),
            tags(),
            invokes(),
            gemma4(),
            others(),
            bare(),
            reasoned(),
            harmony(),
            malformed())
        .flatMap(group -> group);
  }

  private static Stream<Sample> hermes() {
    ToolFormat format = ToolFormat.HERMES;
    return Stream.of(
        sample(format, "Hello, world!\nWhat's up?", "text:Hello, world!\nWhat's up?"),
        sample(format, "\n two lines \n", "text:\n two lines \n"),
        sample(
            format,
            "<tool_call>\n{\"name\": \"special_function\", \"arguments\": {\"arg1\": 1}}\n"
                + "</tool_call>",
            "call:special_function {\"arg1\":1}"),
        sample(
            format,
            "I look.\n<tool_call>{\"name\": \"f\", \"arguments\": {\"city\": \"a \\\"b\\\"\"}}"
                + "</tool_call>\n<tool_call>\n{\"arguments\": {}, \"name\": \"f\"}\n</tool_call>\n",
            "text:I look.\n",
            "call:f {\"city\":\"a \\\"b\\\"\"}",
            "call:f {}"),
        sample(
            format,
            "<tool_call>{\"name\": \"f\", \"arguments\": \"{\\\"city\\\": \\\"Rome\\\"}\"}"
                + "</tool_call>",
            "call:f {\"city\":\"Rome\"}"),
        sample(
            format,
            "<tool_call>{\"name\": \"f\", \"arguments\": {\"city\": \"<think>x</think>\"}}"
                + "</tool_call>",
            "call:f {\"city\":\"<think>x</think>\"}"),
        sample(
            format,
            "<tool_call>{\"name\": \"unheard_of\", \"parameters\": {\"a\": [1, -2.5e3, null,]}}",
            "call:unheard_of {\"a\":[1,-2.5e3,null]}"),
        sample(
            format,
            "<tool_call>[{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"f\"}]</tool_call>.",
            "call:f {}",
            "call:f {}",
            "text:."),
        sample(
            format,
            "<tool_call>{\"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\":"
                + " {\"on\": True}}}</tool_call>",
            "call:f {\"on\":true}"),
        sample(
            format,
            "<tool_call>\n{{\"name\": \"f\", \"arguments\": {\"city\": \"Rome\"}}}\n</tool_call>",
            "call:f {\"city\":\"Rome\"}"));
  }

  private static Stream<Sample> invokes() {
    return Stream.of(
        sample(
            ToolFormat.MINIMAX_M2,
            "I look.\n<minimax:tool_call>\n<invoke name=\"f\">\n<parameter name=\"city\">\n a <b>"
                + "</parameter>\n<parameter name=\"arg1\">1</parameter>\n</invoke>\n"
                + "<invoke name=\"get_time\">\n</invoke>\n</minimax:tool_call>",
            "text:I look.\n",
            "call:f {\"city\":\"\\n a <b>\",\"arg1\":1}",
            "call:get_time {}"),
        sample(
            ToolFormat.MINIMAX_M2,
            "<minimax:tool_call>\n<call>f</call>",
            "text:<minimax:tool_call>\n<call>f</call>"),
        sample(
            ToolFormat.DEEPSEEK_V32,
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"f\">\n"
                + "<｜DSML｜parameter name=\"other\" string=\"true\">12</｜DSML｜parameter>\n"
                + "<｜DSML｜parameter name=\"items\" string=\"false\">[1, {\"a\": null}]"
                + "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
            "call:f {\"other\":\"12\",\"items\":[1,{\"a\":null}]}"),
        sample(
            ToolFormat.DEEPSEEK_V32,
            "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"f\">\n</｜DSML｜invoke>\n"
                + "</｜DSML｜tool_calls>",
            "call:f {}"),
        sample(
            ToolFormat.KIMI_K2,
            "So.<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
                + "<|tool_call_argument_begin|>{\"arg1\": 1}<|tool_call_end|><|tool_call_begin|>"
                + "functions.get_time:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
                + "<|tool_calls_section_end|>",
            "text:So.",
            "call:f {\"arg1\":1}",
            "call:get_time {}"));
  }

  private static Stream<Sample> gemma4() {
    ToolFormat format = ToolFormat.GEMMA4;
    return Stream.of(
        sample(
            format,
            "<|tool_call>call:f{city:<|\"|>K\"öln\n{x}<|\"|>,arg1:-1.5,on:true,items:[1,{a:null,b:[]}]}"
                + "<tool_call|>",
            "call:f {\"city\":\"K\\\"öln\\n{x}\",\"arg1\":-1.5,\"on\":true,"
                + "\"items\":[1,{\"a\":null,\"b\":[]}]}"),
        sample(
            format,
            "Two.<|tool_call>call:f{}<tool_call|><|tool_call>call:get_time{ \"city\": \"a\" , "
                + "<|\"|>note<|\"|>: rainy day }<tool_call|>",
            "text:Two.",
            "call:f {}",
            "call:get_time {\"city\":\"a\",\"note\":\"rainy day\"}"),
        sample(format, "<|tool_call>call f{}", "text:<|tool_call>call f{}"),
        reasoning(
            format,
            "<|channel>thought",
            false,
            "<|channel>thought\nHm.\n<channel|>Yes.",
            "thought:Hm.",
            "text:Yes."));
  }

  private static Stream<Sample> tags() {
    return Stream.of(
        sample(
            ToolFormat.QWEN3_CODER,
            "<tool_call>\n<function=special_function>\n<parameter=arg1>\n1\n</parameter>\n"
                + "</function>\n</tool_call>",
            "call:special_function {\"arg1\":1}"),
        sample(
            ToolFormat.QWEN3_CODER,
            "Let me call it.\n<function=f>\n<parameter=arg1>\n1\n</parameter>\n</function>\n"
                + "</tool_call>\n<tool_call>\n<function=f>\n</function>\n</tool_call>",
            "text:Let me call it.\n",
            "call:f {\"arg1\":1}",
            "call:f {}"),
        sample(
            ToolFormat.QWEN3_CODER,
            "<tool_call>\n<function=f>\n<parameter=city>\nif (a < 2) {\n  \"x\"\n}\n\n</parameter>\n"
                + "<parameter=items>\n[1, {'a': None}]\n</parameter>\n"
                + "<parameter=note>\n12 o'clock\n</parameter>\n"
                + "<parameter=other>null</parameter>\n</function>\n</tool_call>",
            "call:f {\"city\":\"if (a < 2) {\\n  \\\"x\\\"\\n}\\n\",\"items\":[1,{\"a\":null}],"
                + "\"note\":\"12 o'clock\",\"other\":null}"),
        sample(
            ToolFormat.QWEN3_CODER,
            "<tool_call>\n<function=f>\n<parameter=city>\n12\n</parameter>\n</function>\n"
                + "</tool_call>",
            "call:f {\"city\":\"12\"}"),
        sample(
            ToolFormat.GLM,
            "<tool_call>special_function\n<arg_key>arg1</arg_key>\n<arg_value>1</arg_value>\n"
                + "</tool_call>",
            "call:special_function {\"arg1\":1}"),
        sample(
            ToolFormat.GLM,
            "<tool_call>f<arg_key>city</arg_key><arg_value>1</arg_value><arg_key>arg2</arg_key>"
                + "<arg_value>2</arg_value></tool_call><tool_call>get_time</tool_call>",
            "call:f {\"city\":\"1\",\"arg2\":2}",
            "call:get_time {}"));
  }

  private static Stream<Sample> others() {
    return Stream.of(
        sample(
            ToolFormat.LLAMA3,
            "{\"name\": \"special_function\", \"parameters\": {\"arg1\": 1}}",
            "call:special_function {\"arg1\":1}"),
        sample(
            ToolFormat.LLAMA3,
            "<|python_tag|>{\"type\": \"function\", \"name\": \"f\", \"parameters\": {}}; "
                + "{\"name\": \"get_time\", \"parameters\": {\"city\": \"Rome\"}}",
            "call:f {}",
            "call:get_time {\"city\":\"Rome\"}"),
        sample(
            ToolFormat.LLAMA3,
            "<|python_tag|>brave_search.call(query=\"Menlo Park\")",
            "call:brave_search {\"query\":\"Menlo Park\"}"),
        sample(ToolFormat.LLAMA3, "<function=f>{\"arg1\": 1}</function>", "call:f {\"arg1\":1}"),
        sample(
            ToolFormat.MISTRAL,
            "[TOOL_CALLS][{\"name\": \"special_function\", \"arguments\": {\"arg1\": 1}, \"id\":"
                + " \"123456789\"}]",
            "call:special_function {\"arg1\":1}"),
        sample(
            ToolFormat.MISTRAL_ARGS,
            "Hello[TOOL_CALLS]special_function[CALL_ID]000000001[ARGS]{\"arg1\": 1}[TOOL_CALLS]f"
                + "[ARGS]{\"arg1\": 1, \"arg2\": 2}[TOOL_CALLS]f{}",
            "text:Hello",
            "call:special_function {\"arg1\":1}",
            "call:f {\"arg1\":1,\"arg2\":2}",
            "call:f {}"),
        sample(
            ToolFormat.DEEPSEEK_V3,
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>special_function\n"
                + "```json\n{\"arg1\": 1}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function"
                + "<｜tool▁sep｜>f\n```json\n{}```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "call:special_function {\"arg1\":1}",
            "call:f {}"),
        sample(
            ToolFormat.DEEPSEEK_V31,
            "CONTENT<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{\"city\":"
                + " \"Paris\"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
                + "{\"city\": \"Paris\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "text:CONTENT",
            "call:get_time {\"city\":\"Paris\"}",
            "call:get_weather {\"city\":\"Paris\"}"),
        sample(
            ToolFormat.GRANITE,
            "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"arg1\": 1}}]",
            "call:f {\"arg1\":1}"),
        sample(
            ToolFormat.PHI4,
            "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"arg1\": 1}}]<|/tool_call|>",
            "call:f {\"arg1\":1}"),
        sample(
            ToolFormat.PHI4,
            "Let me check.\nfunctools[\n  {\"name\": \"get_weather\", \"arguments\": {\"city\":"
                + " \"Tokyo\"}},\n  {\"name\": \"get_time\", \"arguments\": {}}\n]\nMore?",
            "text:Let me check.\n",
            "call:get_weather {\"city\":\"Tokyo\"}",
            "call:get_time {}",
            "text:More?"),
        sample(
            ToolFormat.COMMAND_R,
            "Action:\n```json\n[{\"tool_name\": \"special_function\", \"parameters\": {\"arg1\":"
                + " 1}}]\n```",
            "call:special_function {\"arg1\":1}"),
        sample(
            ToolFormat.COMMAND_R7B,
            "<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"special_function\","
                + " \"parameters\": {\"arg1\": 1}}\n]<|END_ACTION|>",
            "call:special_function {\"arg1\":1}"),
        sample(
            ToolFormat.COMMAND_R7B,
            "<|START_RESPONSE|>Hello, world!\nWhat's up?<|END_RESPONSE|>",
            "text:Hello, world!\nWhat's up?"),
        sample(
            ToolFormat.GEMMA,
            "```tool_code\nget_weather(city='Rome', arg1=07)\n```",
            "call:get_weather {\"city\":\"Rome\",\"arg1\":7}"),
        sample(
            ToolFormat.GEMMA,
            "[get_weather(city=\"Rome\"), f()]",
            "call:get_weather {\"city\":\"Rome\"}",
            "call:f {}"),
        sample(
            ToolFormat.LFM2,
            "<|tool_call_start|>[f(arg1=1), get_time(city=\"]\")]<|tool_call_end|>I look.",
            "call:f {\"arg1\":1}",
            "call:get_time {\"city\":\"]\"}",
            "text:I look."),
        sample(
            ToolFormat.LFM2,
            "<|tool_call_start|>[register_user(name='John \\'Doe\\'', address={'city': 'San"
                + " Francisco'}, role=None, passed_test=True, aliases=['John', (1, 2)])]"
                + "<|tool_call_end|>",
            "call:register_user {\"name\":\"John 'Doe'\",\"address\":{\"city\":\"San"
                + " Francisco\"},\"role\":null,\"passed_test\":true,\"aliases\":[\"John\",[1,2]]}"));
  }

  private static Stream<Sample> bare() {
    return Stream.of(
        sample(
            ToolFormat.HERMES,
            "```json\n{\n  \"name\": \"get_weather\",\n  \"arguments\": {\n    \"city\": \"Rome\"\n"
                + "  }\n}\n```",
            "call:get_weather {\"city\":\"Rome\"}"),
        sample(
            ToolFormat.HERMES,
            "Sure:\n```json\n{\"name\": \"get_weather\", \"arguments\": {}}\n```\n```\n{\"name\":"
                + " \"get_time\", \"arguments\": {}}\n```\nDone.",
            "text:Sure:\n",
            "call:get_weather {}",
            "call:get_time {}",
            "text:Done."),
        sample(
            ToolFormat.HERMES,
            "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}",
            "call:get_weather {\"city\":\"Rome\"}"),
        sample(
            ToolFormat.HERMES,
            "```json\n{\"name\": \"Bob\", \"arguments\": {}}\n```",
            "text:```json\n{\"name\": \"Bob\", \"arguments\": {}}\n```"),
        sample(
            ToolFormat.HERMES,
            "```json\n{\"name\": \"f\", \"age\": 3}\n```",
            "text:```json\n{\"name\": \"f\", \"age\": 3}\n```"),
        sample(ToolFormat.HERMES, "{\"city\": [1]} and [f] ", "text:{\"city\": [1]} and [f] "),
        sample(ToolFormat.HERMES, "[1, 2]", "text:[1, 2]"),
        sample(
            ToolFormat.HERMES,
            "```java\nint f() { return 1; }\n``` ",
            "text:```java\nint f() { return 1; }\n``` "));
  }

  private static Stream<Sample> reasoned() {
    return Stream.of(
        reasoning(
            ToolFormat.HERMES,
            "",
            false,
            "<think>\nI'm\nthinking\n</think>\n\nHello, world!\n",
            "thought:I'm\nthinking",
            "text:Hello, world!\n"),
        reasoning(ToolFormat.HERMES, "", false, "<think>\n\n</think>\n\nHello", "text:Hello"),
        reasoning(
            ToolFormat.DEEPSEEK_V31,
            "",
            true,
            "REASONING</think>\nCONTENT",
            "thought:REASONING",
            "text:CONTENT"),
        reasoning(ToolFormat.HERMES, "", true, "</think>Hello", "text:Hello"),
        reasoning(ToolFormat.HERMES, "", true, "cut of", "thought:cut of"),
        reasoning(
            ToolFormat.LFM2,
            "",
            false,
            "<think>About <|tool_call_start|>[f(arg1=1)]<|tool_call_end|> hmm</think>"
                + "<|tool_call_start|>[f(arg1=1)]<|tool_call_end|>",
            "thought:About <|tool_call_start|>[f(arg1=1)]<|tool_call_end|> hmm",
            "call:f {\"arg1\":1}"),
        reasoning(
            ToolFormat.HERMES,
            "",
            false,
            "<think>a</think>b<think>c</think><tool_call>{\"name\": \"f\"}</tool_call>",
            "thought:a",
            "text:b",
            "thought:c",
            "call:f {}"),
        reasoning(
            ToolFormat.COMMAND_R7B,
            "<|START_THINKING|>",
            false,
            "<|START_THINKING|>I'm\nthinking<|END_THINKING|><|START_RESPONSE|>Hello"
                + "<|END_RESPONSE|>",
            "thought:I'm\nthinking",
            "text:Hello"),
        reasoning(
            ToolFormat.MISTRAL_ARGS,
            "[THINK]",
            false,
            "[THINK]I'm\nthinking[/THINK]Hello[TOOL_CALLS]f[ARGS]{}",
            "thought:I'm\nthinking",
            "text:Hello",
            "call:f {}"),
        reasoning(
            ToolFormat.GRANITE,
            "Here is my thought process:",
            false,
            "Here is my thought process: I'm thinking. Here is my response: Hello",
            "thought:I'm thinking.",
            "text:Hello"));
  }

  private static Stream<Sample> harmony() {
    ToolFormat format = ToolFormat.HARMONY;
    String analysis = "<|channel|>analysis<|message|>I'm\nthinking<|end|><|start|>assistant";
    return Stream.of(
        sample(format, "<|channel|>final<|message|>Hello", "text:Hello"),
        sample(format, "<|channel|>commentary<|message|>Hello", "text:Hello"),
        sample(
            format,
            analysis + "<|channel|>final<|message|>Hello<|return|>",
            "thought:I'm\nthinking",
            "text:Hello"),
        sample(
            format,
            " to=functions.special_function<|channel|>analysis<|message|>{\"arg1\": 1}",
            "call:special_function {\"arg1\":1}"),
        sample(
            format,
            "<|channel|>analysis to=functions.special_function<|message|>{\"arg1\": 1}",
            "call:special_function {\"arg1\":1}"),
        sample(
            format,
            analysis
                + "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"city\":"
                + " \"a < b\"}<|call|>",
            "thought:I'm\nthinking",
            "call:f {\"city\":\"a < b\"}"),
        sample(
            format,
            analysis
                + " to=functions.f<|channel|>commentary json<|message|>{}<|call|><|start|>assistant"
                + "<|channel|>commentary to=get_time<|message|>{}<|call|>",
            "thought:I'm\nthinking",
            "call:f {}",
            "call:get_time {}"),
        sample(
            format,
            "<|channel|>commentary to=assistant" + analysis + "<|channel|>final<|message|>Hello",
            "thought:I'm\nthinking",
            "text:Hello"),
        sample(
            format,
            analysis + "<|channel|>commentary to=python <|constrain|>code<|message|>print(1)",
            "thought:I'm\nthinking",
            "text:print(1)"),
        sample(format, "Hello, no header", "text:Hello, no header"),
        sample(
            format,
            "<|channel|>commentary to=functions.f<|message|>{oops<|call|>",
            "started:0 f",
            "text:<|channel|>commentary to=functions.f<|message|>{oops"));
  }

  private static Stream<Sample> malformed() {
    return Stream.of(
        sample(ToolFormat.HERMES, "1 < 2, <thin> and <tool_c", "text:1 < 2, <thin> and <tool_c"),
        sample(
            ToolFormat.HERMES,
            "<tool_call>{\"name\": </tool_call> no",
            "text:<tool_call>{\"name\": </tool_call> no"),
        sample(
            ToolFormat.HERMES,
            "<tool_call><tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>",
            "text:<tool_call>",
            "call:f {}"),
        sample(
            ToolFormat.HERMES,
            "<tool_call>{\"name\": \"f\", \"arguments\": {\"city\": \"Ro",
            "started:0 f",
            "text:<tool_call>{\"name\": \"f\", \"arguments\": {\"city\": \"Ro"),
        sample(
            ToolFormat.HERMES,
            "<tool_call>{\"name\": \"f\", \"arguments\": {}</tool_call>"
                + "<tool_call>{\"name\": \"f\", \"arguments\": {x}}</tool_call>",
            "call:f {}",
            "started:1 f",
            "text:<tool_call>{\"name\": \"f\", \"arguments\": {x}}"),
        sample(
            ToolFormat.PHI4, "functools[] This is just text", "text:functools[] This is just text"),
        sample(
            ToolFormat.PHI4,
            "functools[{\"name\": \"f\", \"arguments\": \"not a dict\"}]",
            "text:functools[{\"name\": \"f\", \"arguments\": \"not a dict\"}]"),
        sample(ToolFormat.MISTRAL, "[TOOL_CALLS]", "text:[TOOL_CALLS]"),
        sample(ToolFormat.MISTRAL_ARGS, "[TOOL_CALLS]a b[ARGS]{}", "text:[TOOL_CALLS]a b[ARGS]{}"),
        sample(
            ToolFormat.QWEN3_CODER,
            "<tool_call>\n<function=f>\n<parameter=city>Rome",
            "started:0 f",
            "text:<tool_call>\n<function=f>\n<parameter=city>Rome"),
        sample(
            ToolFormat.LFM2,
            "<|tool_call_start|>[f(1)]<|tool_call_end|>",
            "started:0 f",
            "text:<|tool_call_start|>[f(1)]<|tool_call_end|>"),
        sample(
            ToolFormat.LLAMA3,
            "<|python_tag|>print(x)",
            "started:0 print",
            "text:<|python_tag|>print(x)"));
  }

  @ParameterizedTest
  @MethodSource("samples")
  void textMeansTheSameHoweverItIsSplit(Sample sample) {
    MessageSyntax syntax = ParsedMessage.syntax(sample.format(), sample.template());
    String text = sample.text();
    List<List<String>> splits = new ArrayList<>(List.of(List.of(text)));
    splits.add(text.chars().mapToObj(c -> String.valueOf((char) c)).toList());
    for (int at = 1; at < text.length(); at++) {
      splits.add(List.of(text.substring(0, at), text.substring(at)));
    }
    for (List<String> split : splits) {
      ParsedMessage parsed =
          ParsedMessage.parse(syntax, ParsedMessage.FUNCTIONS, sample.isOpen(), split);
      assertThat(parsed.lines()).as("%s", split).isEqualTo(sample.expected());
    }
  }

  @Test
  void withoutToolsTagsAreText() {
    String text = "<tool_call>{\"name\": \"f\"}</tool_call> ```json\n{\"name\": \"f\"}```";
    ParsedMessage parsed =
        ParsedMessage.parse(
            ParsedMessage.syntax(ToolFormat.HERMES, ""),
            CallableFunctions.NONE,
            false,
            List.of(text));
    assertThat(parsed.lines()).containsExactly("text:" + text);
  }

  @Test
  void aMessageWithOneCallEndsAfterIt() {
    CallableFunctions one = new CallableFunctions(ParsedMessage.FUNCTIONS.schemas(), false);
    String call = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    ParsedMessage parsed =
        ParsedMessage.parse(
            ParsedMessage.syntax(ToolFormat.HERMES, ""), one, false, List.of(call + call + "x"));
    assertThat(parsed.lines()).containsExactly("call:f {}");
  }

  @Test
  void idsAreThoseOfTheModelOrHaveTheFormThatItsTemplateAccepts() {
    ParsedMessage mistral =
        ParsedMessage.parse(
            ParsedMessage.syntax(ToolFormat.MISTRAL_ARGS, ""),
            ParsedMessage.FUNCTIONS,
            false,
            List.of("[TOOL_CALLS]f[CALL_ID]000000001[ARGS]{}[TOOL_CALLS]f[ARGS]{}"));
    assertThat(mistral.ids().getFirst()).isEqualTo("000000001");
    assertThat(mistral.ids().getLast()).matches("[0-9a-zA-Z]{9}");
    ParsedMessage hermes =
        ParsedMessage.parse(
            ParsedMessage.syntax(ToolFormat.HERMES, ""),
            ParsedMessage.FUNCTIONS,
            false,
            List.of("{\"name\": \"f\", \"arguments\": {}}\n{\"name\": \"f\", \"arguments\": {}}"));
    assertThat(hermes.ids())
        .hasSize(2)
        .doesNotHaveDuplicates()
        .allMatch(id -> id.startsWith("call_"));
  }
}
