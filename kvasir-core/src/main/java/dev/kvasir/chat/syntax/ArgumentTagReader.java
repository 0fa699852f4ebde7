package dev.kvasir.chat.syntax;

/**
 * Reads a call of GLM after {@code <tool_call>}: {@code NAME}, then {@code <arg_key>KEY</arg_key>}
 * and {@code <arg_value>VALUE</arg_value>} for each argument, then {@code </tool_call>}.
 */
final class ArgumentTagReader implements Reader {
  private static final String KEY = "<arg_key>";
  private static final String KEY_END = "</arg_key>";
  private static final String VALUE = "<arg_value>";
  private static final String VALUE_END = "</arg_value>";
  private static final String CLOSE = "</tool_call>";
  private static final int MAX_NAME = 200;

  private final ParameterWriter writer;
  private final StringBuilder word = new StringBuilder();
  private UntilReader tag;
  private SequenceReader argument;
  private boolean isStarted;

  ArgumentTagReader(CallSink sink, ParameterTypes types) {
    this.writer = new ParameterWriter(sink, types);
    this.tag = new UntilReader(word::append, MAX_NAME, KEY, CLOSE);
  }

  @Override
  public Step accept(char c) {
    if (argument != null) {
      return argument(c);
    }
    Step step = tag.accept(c);
    if (step != Step.DONE) {
      return step;
    }
    if (!begin()) {
      return Step.MALFORMED;
    }
    if (tag.marker().equals(CLOSE)) {
      writer.end();
      return Step.DONE;
    }
    argument = argument();
    return Step.MORE;
  }

  /** Starts the call at its first tag; between arguments there is only white space. */
  private boolean begin() {
    String text = word.toString().strip();
    if (isStarted) {
      return text.isEmpty();
    }
    isStarted = true;
    return writer.begin(text);
  }

  private Step argument(char c) {
    Step step = argument.accept(c);
    if (step != Step.DONE) {
      return step;
    }
    writer.endParameter();
    argument = null;
    word.setLength(0);
    tag = new UntilReader(word::append, MAX_NAME, KEY, CLOSE);
    return Step.MORE;
  }

  private SequenceReader argument() {
    word.setLength(0);
    UntilReader key = new UntilReader(word::append, MAX_NAME, KEY_END);
    LiteralReader open = new LiteralReader(VALUE);
    return new SequenceReader(
        key,
        c -> {
          Step step = open.accept(c);
          if (step == Step.DONE) {
            writer.beginParameter(word.toString().strip());
          }
          return step;
        },
        new UntilReader(writer::value, Integer.MAX_VALUE, VALUE_END));
  }
}
