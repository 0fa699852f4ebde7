package dev.kvasir.chat.syntax;

import dev.kvasir.ToolFormat;

/** Splits the generated text of a message into content, reasoning and tool calls as it streams. */
public sealed interface MessageParser permits TaggedMessageParser, HarmonyParser {
  /** Reads a piece of text, and passes on what it completes. */
  void push(String piece);

  /** Passes on what is left at the end of the text. */
  void finish();

  /** Returns how many complete calls there are. */
  int calls();

  /**
   * @param startsInReasoning whether the prompt opened the reasoning
   */
  static MessageParser of(
      MessageSyntax syntax,
      CallableFunctions functions,
      boolean startsInReasoning,
      MessageListener listener) {
    return syntax.format() == ToolFormat.HARMONY
        ? new HarmonyParser(functions, listener)
        : new TaggedMessageParser(syntax, functions, startsInReasoning, listener);
  }
}
