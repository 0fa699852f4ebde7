package dev.kvasir.server.answer;

/**
 * How a model writes a call: a JSON object with a name and arguments between two texts.
 *
 * @param open before the object
 * @param close after it
 */
public record ToolSyntax(String open, String close) {
  /** What Hermes and Qwen models are trained on, and what others are asked to write. */
  public static final ToolSyntax TAGS = new ToolSyntax("<tool_call>", "</tool_call>");
}
