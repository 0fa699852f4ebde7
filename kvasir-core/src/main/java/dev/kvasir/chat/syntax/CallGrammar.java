package dev.kvasir.chat.syntax;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.grammar.Grammar;
import dev.kvasir.grammar.JsonGrammar;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Builds the grammar of tool calls in the format of a model. */
public final class CallGrammar {
  private final MessageSyntax syntax;
  private final Predicate<String> isSpecial;

  /**
   * @param isSpecial whether a text is a special token of the model, which must be generated as
   *     such
   */
  public CallGrammar(MessageSyntax syntax, Predicate<String> isSpecial) {
    this.syntax = syntax;
    this.isSpecial = isSpecial;
  }

  /**
   * Returns the grammar of one call. It allows no second one, since small models would repeat it.
   *
   * @throws dev.kvasir.error.InvalidInputException if a schema is not supported
   */
  public Grammar call(CallableFunctions functions) {
    List<Grammar> bodies = new ArrayList<>();
    functions.schemas().forEach((name, schema) -> bodies.add(body(name, schema)));
    return around(Grammar.choice(bodies.toArray(Grammar[]::new)));
  }

  /** Returns the grammar of a text after reasoning that the prompt opened. */
  public Grammar afterReasoning(Grammar text) {
    String close = syntax.reasoning().close().getFirst();
    return Grammar.sequence(
        isSpecial.test(close) ? Grammar.anyText() : Grammar.textWithout(close),
        marker(close),
        Grammar.literal("\n").repeated(0, 2),
        text);
  }

  private Grammar marker(String text) {
    return isSpecial.test(text) ? Grammar.special(text) : Grammar.literal(text);
  }

  /** Returns the part of a call that depends on the function. */
  private Grammar body(String name, String schema) {
    JsonObject arguments = JsonParser.parseString(schema).getAsJsonObject();
    return switch (syntax.format()) {
      case HERMES, MISTRAL, GRANITE, PHI4 -> object("name", name, "arguments", arguments);
      case LLAMA3, GEMMA -> object("name", name, "parameters", arguments);
      case COMMAND_R, COMMAND_R7B -> object("tool_name", name, "parameters", arguments);
      case MISTRAL_ARGS -> named(name, marker("[ARGS]"), arguments);
      case DEEPSEEK_V31 -> named(name, marker("<｜tool▁sep｜>"), arguments);
      case DEEPSEEK_V3 -> named(name, Grammar.literal("\n```json\n"), arguments);
      case HARMONY -> named(name, harmonyHeaderEnd(), arguments);
      case KIMI_K2 -> named("functions." + name + ":0", marker(KimiCalls.ARGUMENTS), arguments);
      case MINIMAX_M2 -> ParameterGrammar.invoke(name, arguments);
      case DEEPSEEK_V32 -> ParameterGrammar.dsmlInvoke(name, arguments);
      case GEMMA4 -> ParameterGrammar.gemma4(name, arguments, marker(Gemma4CallReader.QUOTE));
      case QWEN3_CODER -> ParameterGrammar.functionTags(name, arguments);
      case GLM -> ParameterGrammar.argumentTags(name, arguments, this::marker);
      case LFM2 -> ParameterGrammar.python(name, arguments);
    };
  }

  private static Grammar object(
      String nameKey, String name, String argumentsKey, JsonObject arguments) {
    String head = "{\"%s\": %s, \"%s\": ".formatted(nameKey, JsonText.string(name), argumentsKey);
    return Grammar.sequence(Grammar.literal(head), JsonGrammar.of(arguments), Grammar.literal("}"));
  }

  private static Grammar named(String name, Grammar separator, JsonObject arguments) {
    return Grammar.sequence(Grammar.literal(name), separator, JsonGrammar.of(arguments));
  }

  private Grammar harmonyHeaderEnd() {
    return Grammar.sequence(
        Grammar.literal(" "),
        marker("<|constrain|>"),
        Grammar.literal("json"),
        marker("<|message|>"));
  }

  /** Returns what surrounds the body of a call. */
  private Grammar around(Grammar body) {
    return switch (syntax.format()) {
      case HERMES, QWEN3_CODER ->
          enclosed("<tool_call>", between("\n", body, "\n"), "</tool_call>");
      case GLM -> enclosed("<tool_call>", body, "</tool_call>");
      case LLAMA3 -> body;
      case GEMMA -> between("```json\n", body, "\n```");
      case MISTRAL -> Grammar.sequence(marker("[TOOL_CALLS]"), list(body));
      case MISTRAL_ARGS -> Grammar.sequence(marker("[TOOL_CALLS]"), body);
      case DEEPSEEK_V3 -> deepSeek(deepSeekV3(body));
      case DEEPSEEK_V31 -> deepSeek(body);
      case KIMI_K2 ->
          Grammar.sequence(
              marker("<|tool_calls_section_begin|>"),
              enclosed("<|tool_call_begin|>", body, "<|tool_call_end|>"),
              marker("<|tool_calls_section_end|>"));
      case MINIMAX_M2 ->
          enclosed("<minimax:tool_call>", between("\n", body, "\n"), "</minimax:tool_call>");
      case DEEPSEEK_V32 -> between("<｜DSML｜function_calls>\n", body, "\n</｜DSML｜function_calls>");
      case GEMMA4 -> enclosed("<|tool_call>", body, "<tool_call|>");
      case GRANITE -> Grammar.sequence(marker("<|tool_call|>"), list(body));
      case PHI4 -> enclosed("<|tool_call|>", list(body), "<|/tool_call|>");
      case COMMAND_R -> between("Action: ```json\n", list(body), "\n```");
      case COMMAND_R7B -> enclosed("<|START_ACTION|>", list(body), "<|END_ACTION|>");
      case LFM2 -> enclosed("<|tool_call_start|>", list(body), "<|tool_call_end|>");
      case HARMONY -> harmony(body);
    };
  }

  private Grammar enclosed(String open, Grammar body, String close) {
    return Grammar.sequence(marker(open), body, marker(close));
  }

  private static Grammar between(String before, Grammar body, String after) {
    return Grammar.sequence(Grammar.literal(before), body, Grammar.literal(after));
  }

  private static Grammar list(Grammar body) {
    return between("[", body, "]");
  }

  private Grammar deepSeekV3(Grammar body) {
    return Grammar.sequence(
        Grammar.literal("function"), marker("<｜tool▁sep｜>"), body, Grammar.literal("\n```"));
  }

  private Grammar deepSeek(Grammar body) {
    return enclosed(
        "<｜tool▁calls▁begin｜>",
        enclosed("<｜tool▁call▁begin｜>", body, "<｜tool▁call▁end｜>"),
        "<｜tool▁calls▁end｜>");
  }

  /** Allows reasoning before the call; the end of the text is the token {@code <|call|>}. */
  private Grammar harmony(Grammar body) {
    Grammar analysis =
        Grammar.sequence(
            marker("<|channel|>"),
            Grammar.literal("analysis"),
            marker("<|message|>"),
            isSpecial.test("<|end|>") ? Grammar.anyText() : Grammar.textWithout("<|end|>"),
            marker("<|end|>"),
            marker("<|start|>"),
            Grammar.literal("assistant"));
    return Grammar.sequence(
        analysis.repeated(0, 1),
        marker("<|channel|>"),
        Grammar.literal("commentary to=functions."),
        body);
  }
}
