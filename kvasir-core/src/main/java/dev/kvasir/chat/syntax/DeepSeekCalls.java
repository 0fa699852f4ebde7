package dev.kvasir.chat.syntax;

/**
 * Reads a call after {@code <｜tool▁call▁begin｜>}: {@code NAME<｜tool▁sep｜>} and a JSON object, or
 * {@code function<｜tool▁sep｜>NAME} and a JSON object in a fence.
 */
final class DeepSeekCalls {
  private static final String SEPARATOR = "<｜tool▁sep｜>";
  private static final int MAX_NAME = 200;

  private DeepSeekCalls() {}

  static Reader reader(CallSink sink, ParameterTypes types) {
    StringBuilder first = new StringBuilder();
    return new SequenceReader(
        new UntilReader(first::append, MAX_NAME, SEPARATOR),
        new ChoiceReader(
            c -> c == '{' ? new ArgumentsReader(sink, first::toString) : fenced(sink)));
  }

  private static Reader fenced(CallSink sink) {
    StringBuilder name = new StringBuilder();
    return new SequenceReader(
        new UntilReader(name::append, MAX_NAME, "\n"),
        new LiteralReader("```json"),
        new ArgumentsReader(sink, name::toString),
        new LiteralReader("```"));
  }
}
