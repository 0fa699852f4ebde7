package dev.kvasir.chat.syntax;

import dev.kvasir.ToolFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.Stream;

/**
 * The markers of a tool format.
 *
 * @param openings texts that begin calls
 * @param separators texts within calls
 * @param closings texts after calls, which are no content
 * @param wrappers texts around content or calls, which are never content
 * @param isPythonic whether calls in Python syntax need no marker
 */
record CallSyntax(
    List<Opening> openings,
    List<String> separators,
    List<String> closings,
    List<String> wrappers,
    boolean isPythonic) {

  /** A text that begins calls, and what reads them. */
  record Opening(String marker, BiFunction<CallSink, ParameterTypes, Reader> reader) {
    boolean beginsWithBracket() {
      return marker.startsWith("[");
    }
  }

  private static final String TOOL_CALL = "<tool_call>";
  private static final String TOOL_CALL_END = "</tool_call>";

  /** Before the names of DeepSeek's tags. */
  static final String DSML = "｜DSML｜";

  /** Returns the row of a format in the table of formats. */
  static CallSyntax of(ToolFormat format) {
    return switch (format) {
      case HERMES, QWEN3_CODER ->
          tags(
              List.of(
                  new Opening(TOOL_CALL, CallSyntax::jsonOrFunction),
                  new Opening(FunctionTagReader.OPEN, FunctionTagReader::new)),
              TOOL_CALL_END);
      case GLM -> tags(List.of(new Opening(TOOL_CALL, CallSyntax::jsonOrTags)), TOOL_CALL_END);
      case LLAMA3 ->
          tags(
              List.of(
                  new Opening("<|python_tag|>", CallSyntax::jsonOrPython),
                  new Opening(FunctionTagReader.OPEN, FunctionTagReader::new)),
              "<|eom_id|>");
      case MISTRAL, MISTRAL_ARGS ->
          new CallSyntax(
              List.of(new Opening("[TOOL_CALLS]", MistralCalls::reader)),
              List.of("[ARGS]", "[CALL_ID]"),
              List.of(),
              List.of(),
              false);
      case DEEPSEEK_V3, DEEPSEEK_V31 ->
          new CallSyntax(
              List.of(new Opening("<｜tool▁call▁begin｜>", DeepSeekCalls::reader)),
              List.of("<｜tool▁sep｜>"),
              List.of("<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"),
              List.of("<｜tool▁calls▁begin｜>"),
              false);
      case DEEPSEEK_V32 ->
          tags(List.of(dsml("function_calls"), dsml("tool_calls"))); // the latter in DeepSeek V4
      case KIMI_K2 ->
          new CallSyntax(
              List.of(new Opening("<|tool_call_begin|>", KimiCalls::reader)),
              List.of(KimiCalls.ARGUMENTS),
              List.of("<|tool_call_end|>", "<|tool_calls_section_end|>"),
              List.of("<|tool_calls_section_begin|>"),
              false);
      case MINIMAX_M2 ->
          tags(
              List.of(
                  new Opening(
                      "<minimax:tool_call>",
                      (sink, types) -> new InvokeReader(sink, types, "", "minimax:tool_call"))));
      case GEMMA4 ->
          new CallSyntax(
              List.of(new Opening("<|tool_call>", (sink, _) -> new Gemma4CallReader(sink))),
              List.of(Gemma4CallReader.QUOTE, "<|channel>"),
              List.of("<tool_call|>"),
              List.of(),
              false);
      case GRANITE ->
          tags(
              List.of(
                  new Opening("<|tool_call|>", CallSyntax::json),
                  new Opening(TOOL_CALL, CallSyntax::json)),
              TOOL_CALL_END);
      case PHI4 ->
          tags(
              List.of(
                  new Opening("<|tool_call|>", CallSyntax::json),
                  new Opening("functools", CallSyntax::json)),
              "<|/tool_call|>");
      case COMMAND_R -> tags(List.of(new Opening("Action:", CallSyntax::fencedJson)));
      case COMMAND_R7B ->
          new CallSyntax(
              List.of(new Opening("<|START_ACTION|>", CallSyntax::json)),
              List.of(),
              List.of("<|END_ACTION|>"),
              List.of("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
              false);
      case GEMMA -> new CallSyntax(List.of(), List.of(), List.of(), List.of(), true);
      case LFM2 ->
          new CallSyntax(
              List.of(new Opening("<|tool_call_start|>", CallSyntax::jsonOrPython)),
              List.of(),
              List.of("<|tool_call_end|>"),
              List.of(),
              false);
      case HARMONY -> throw new IllegalArgumentException("channels have a parser of their own");
    };
  }

  private static CallSyntax tags(List<Opening> openings, String... closings) {
    return new CallSyntax(openings, List.of(), List.of(closings), List.of(), false);
  }

  private static Opening dsml(String block) {
    return new Opening(
        "<" + DSML + block + ">", (sink, types) -> new InvokeReader(sink, types, DSML, block));
  }

  private static Reader json(CallSink sink, ParameterTypes types) {
    return new JsonCallsReader(sink, false);
  }

  private static boolean isJson(char c) {
    return c == '{' || c == '[';
  }

  private static Reader jsonOrFunction(CallSink sink, ParameterTypes types) {
    return new ChoiceReader(c -> isJson(c) ? json(sink, types) : function(c, sink, types));
  }

  private static Reader function(char c, CallSink sink, ParameterTypes types) {
    return c == '<'
        ? new SequenceReader(
            new LiteralReader(FunctionTagReader.OPEN), new FunctionTagReader(sink, types))
        : null;
  }

  private static Reader jsonOrTags(CallSink sink, ParameterTypes types) {
    return new ChoiceReader(
        c -> isJson(c) ? json(sink, types) : new ArgumentTagReader(sink, types));
  }

  private static Reader jsonOrPython(CallSink sink, ParameterTypes types) {
    return new ChoiceReader(
        c -> {
          if (c == '{') {
            return json(sink, types);
          }
          return c == '[' ? list(sink, false) : new PythonCallsReader(sink);
        });
  }

  private static Reader fencedJson(CallSink sink, ParameterTypes types) {
    return new SequenceReader(
        new LiteralReader("```"), new FenceReader(sink, FenceReader.JSON, false));
  }

  /** Returns a reader of a list of calls in JSON or Python. */
  static Reader list(CallSink sink, boolean isStrict) {
    return new SequenceReader(
        new LiteralReader("["),
        new ChoiceReader(
            c -> {
              Reader calls =
                  c == '{' ? new JsonCallsReader(sink, isStrict) : new PythonCallsReader(sink);
              calls.accept('[');
              return calls;
            }));
  }

  /** Returns all texts that have a meaning. */
  List<String> markers() {
    return Stream.of(
            openings.stream().map(Opening::marker),
            separators.stream(),
            closings.stream(),
            wrappers.stream())
        .flatMap(texts -> texts)
        .toList();
  }

  Optional<Opening> opening(String marker) {
    return openings.stream().filter(opening -> opening.marker().equals(marker)).findFirst();
  }
}
