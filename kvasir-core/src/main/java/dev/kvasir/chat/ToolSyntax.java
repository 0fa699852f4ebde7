package dev.kvasir.chat;

/**
 * How a model writes a tool call: a JSON object with a name and arguments between two delimiters.
 *
 * @param open text before the object
 * @param close text after it
 */
public record ToolSyntax(String open, String close) {
  /**
   * The syntax that Hermes and Qwen models are trained on, and that other models are instructed to
   * use.
   */
  public static final ToolSyntax TAGS = new ToolSyntax("<tool_call>", "</tool_call>");
}
