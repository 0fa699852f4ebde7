package dev.kvasir.chat.syntax;

import java.util.Optional;

/**
 * Writes parameters that a model gives as plain text as the members of a JSON object. Text streams;
 * other values are written when they are complete.
 */
final class ParameterWriter {
  private final CallSink sink;
  private final ParameterTypes types;
  private final boolean isExact;
  private final StringBuilder value = new StringBuilder();
  private String function;
  private boolean isText;
  private boolean isFirstParameter;
  private boolean isLineBreakHeld;
  private boolean isAtStart;

  ParameterWriter(CallSink sink, ParameterTypes types) {
    this(sink, types, false);
  }

  private ParameterWriter(CallSink sink, ParameterTypes types, boolean isExact) {
    this.sink = sink;
    this.types = types;
    this.isExact = isExact;
  }

  /** Returns a writer for a format whose tags have no line breaks around values. */
  static ParameterWriter ofExactText(CallSink sink, ParameterTypes types) {
    return new ParameterWriter(sink, types, true);
  }

  /** Returns false if there is no such function. */
  boolean begin(String name) {
    function = name;
    isFirstParameter = true;
    if (!ArgumentsReader.isName(name) || !sink.start(name, Optional.empty())) {
      return false;
    }
    sink.argument('{');
    return true;
  }

  void beginParameter(String name) {
    beginParameter(name, types.isText(function, name));
  }

  /**
   * @param isString whether the value is text, and not a literal
   */
  void beginParameter(String name, boolean isString) {
    write(isFirstParameter ? "" : ",");
    isFirstParameter = false;
    write(JsonText.string(name));
    write(":");
    isText = isString;
    isLineBreakHeld = false;
    isAtStart = !isExact;
    value.setLength(0);
    write(isText ? "\"" : "");
  }

  /** Adds to the value. A line break at its start or end belongs to the tags. */
  void value(char c) {
    if (!isText) {
      value.append(c);
    } else if (c == '\n' && isAtStart) {
      isAtStart = false;
    } else {
      writeHeldLineBreak();
      isAtStart = false;
      isLineBreakHeld = c == '\n' && !isExact;
      if (!isLineBreakHeld) {
        JsonText.writeCharacter(c, sink::argument);
      }
    }
  }

  private void writeHeldLineBreak() {
    if (isLineBreakHeld) {
      write("\\n");
    }
  }

  void endParameter() {
    write(isText ? "\"" : ParameterTypes.json(withoutLineBreaks(value.toString())));
  }

  private static String withoutLineBreaks(String text) {
    int from = text.startsWith("\n") ? 1 : 0;
    int to = text.endsWith("\n") && text.length() > from ? text.length() - 1 : text.length();
    return text.substring(from, to);
  }

  void end() {
    sink.argument('}');
    sink.end();
  }

  private void write(String json) {
    json.chars().forEach(c -> sink.argument((char) c));
  }
}
