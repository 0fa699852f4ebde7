package dev.kvasir.chat.syntax;

import dev.kvasir.ToolFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How a model writes messages.
 *
 * @param format how it writes tool calls
 * @param reasoning how it marks reasoning
 */
public record MessageSyntax(ToolFormat format, ReasoningTags reasoning) {
  /** What a template that shows a format contains. The first row that fits decides. */
  private static final List<Sign> SIGNS =
      List.of(
          new Sign(ToolFormat.HARMONY, "<|channel|>", "<|message|>"),
          new Sign(ToolFormat.DEEPSEEK_V32, CallSyntax.DSML),
          new Sign(ToolFormat.MINIMAX_M2, "<minimax:tool_call>"),
          new Sign(ToolFormat.KIMI_K2, "<|tool_call_begin|>", KimiCalls.ARGUMENTS),
          new Sign(ToolFormat.GEMMA4, "<|tool_call>call:"),
          new Sign(ToolFormat.DEEPSEEK_V3, "<｜tool▁call▁begin｜>", "```json"),
          new Sign(ToolFormat.DEEPSEEK_V31, "<｜tool▁call▁begin｜>"),
          new Sign(ToolFormat.MISTRAL_ARGS, "[TOOL_CALLS]", "[ARGS]"),
          new Sign(ToolFormat.MISTRAL, "[TOOL_CALLS]"),
          new Sign(ToolFormat.COMMAND_R7B, "<|START_ACTION|>"),
          new Sign(ToolFormat.COMMAND_R, "Action:", "tool_name"),
          new Sign(ToolFormat.GLM, "<arg_key>"),
          new Sign(ToolFormat.QWEN3_CODER, "<function=", "<parameter="),
          new Sign(ToolFormat.LFM2, "<|tool_call_start|>"),
          new Sign(ToolFormat.LFM2, "<|tool_list_start|>"),
          new Sign(ToolFormat.LFM2, "List of tools: ["),
          new Sign(ToolFormat.PHI4, "<|tool_call|>", "<|/tool_call|>"),
          new Sign(ToolFormat.PHI4, "<|/tool|>"),
          new Sign(ToolFormat.PHI4, "functools"),
          new Sign(ToolFormat.GRANITE, "<|tool_call|>"),
          new Sign(ToolFormat.HERMES, "<tool_call>"),
          new Sign(ToolFormat.LLAMA3, "<|python_tag|>"),
          new Sign(ToolFormat.LLAMA3, "<|start_header_id|>", "tools"),
          new Sign(ToolFormat.LLAMA3, "<|header_start|>", "tools"), // Llama 4
          new Sign(ToolFormat.GEMMA, "<start_of_turn>"));

  private record Sign(ToolFormat format, List<String> texts) {
    Sign(ToolFormat format, String... texts) {
      this(format, List.of(texts));
    }

    boolean isIn(String template) {
      return texts.stream().allMatch(template::contains);
    }
  }

  /**
   * Recognises the syntax of a model. A model without a template that renders tools is instructed
   * to use the format of Hermes.
   *
   * @param template the chat template; empty for none
   * @param chosen the format to use instead of the recognised one
   */
  public static MessageSyntax recognize(Optional<String> template, Optional<ToolFormat> chosen) {
    String source = template.orElse("");
    ToolFormat recognized =
        SIGNS.stream()
            .filter(sign -> sign.isIn(source))
            .map(Sign::format)
            .findFirst()
            .orElse(ToolFormat.HERMES);
    return new MessageSyntax(chosen.orElse(recognized), ReasoningTags.recognize(source));
  }

  /** Returns all texts that have a meaning, some of which are special tokens of the model. */
  public List<String> markers() {
    Stream<String> calls =
        format == ToolFormat.HARMONY
            ? HarmonyParser.MARKERS.stream()
            : CallSyntax.of(format).markers().stream();
    return Stream.of(calls, reasoning.open().stream(), reasoning.close().stream())
        .flatMap(texts -> texts)
        .distinct()
        .toList();
  }
}
