package dev.kvasir;

import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How a model writes tool calls. {@link ChatModel} recognises the format from the chat template of
 * the model; docs/server.md names more models of each.
 */
public enum ToolFormat {
  /** JSON between {@code <tool_call>} tags: Hermes, Qwen 2.5 and 3, Granite 4, SmolLM 3. */
  HERMES,
  /**
   * {@code <function=NAME>} with {@code <parameter=KEY>} tags: Qwen 3 Coder and 3.5, Nemotron 3.
   */
  QWEN3_CODER,
  /** JSON, bare or after {@code <|python_tag|>}: Llama 3.1 to 3.3. */
  LLAMA3,
  /** A JSON array after {@code [TOOL_CALLS]}: Mistral Nemo, Mistral Small 3.1. */
  MISTRAL,
  /**
   * {@code [TOOL_CALLS]NAME[ARGS]} and JSON: Mistral Small 3.2, Devstral, Magistral, Ministral 3.
   */
  MISTRAL_ARGS,
  /** {@code function<｜tool▁sep｜>NAME} and fenced JSON: DeepSeek V3 and R1. */
  DEEPSEEK_V3,
  /** {@code NAME<｜tool▁sep｜>} and JSON: DeepSeek V3.1. */
  DEEPSEEK_V31,
  /** {@code <｜DSML｜invoke name="NAME">} with tags of parameters: DeepSeek V3.2 and V4. */
  DEEPSEEK_V32,
  /** {@code functions.NAME:0<|tool_call_argument_begin|>} and JSON: Kimi K2. */
  KIMI_K2,
  /** {@code <invoke name="NAME">} between {@code <minimax:tool_call>} tags: MiniMax M2. */
  MINIMAX_M2,
  /** Channels with recipients: gpt-oss. */
  HARMONY,
  /** A JSON array after {@code <|tool_call|>}: Granite 3. */
  GRANITE,
  /** A JSON array between {@code <|tool_call|>} tags, or after {@code functools}: Phi 4 mini. */
  PHI4,
  /** Fenced JSON after {@code Action:}: Command R and R+. */
  COMMAND_R,
  /** A JSON array between {@code <|START_ACTION|>} tags: Command R7B and A. */
  COMMAND_R7B,
  /** A name and {@code <arg_key>} tags between {@code <tool_call>} tags: GLM 4.5 to 4.7. */
  GLM,
  /** Fenced JSON or Python calls: Gemma 2 and 3. */
  GEMMA,
  /** {@code call:NAME{KEY:VALUE}} between {@code <|tool_call>} tags: Gemma 4. */
  GEMMA4,
  /** Python calls between {@code <|tool_call_start|>} tags: LFM2. */
  LFM2;

  /** Returns the name that options use, such as {@code qwen3-coder}. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Returns the format with this label.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static ToolFormat parse(String label) {
    return Stream.of(values())
        .filter(format -> format.label().equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "the tool format is '%s'; expected one of %s".formatted(label, labels())));
  }

  private static String labels() {
    return Stream.of(values()).map(ToolFormat::label).collect(Collectors.joining(", "));
  }
}
