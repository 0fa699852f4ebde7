package dev.kvasir.chat.syntax;

/**
 * Reads a call after {@code <function=}: {@code NAME>}, then {@code <parameter=KEY>VALUE
 * </parameter>} for each parameter or a JSON object, then {@code </function>}.
 */
final class FunctionTagReader implements Reader {
  static final String OPEN = "<function=";
  private static final String CLOSE = "</function>";
  private static final String PARAMETER = "<parameter=";
  private static final String PARAMETER_END = "</parameter>";
  private static final int MAX_NAME = 200;

  private final CallSink sink;
  private final ParameterWriter writer;
  private final StringBuilder word = new StringBuilder();
  private Reader part;

  FunctionTagReader(CallSink sink, ParameterTypes types) {
    this.sink = sink;
    this.writer = new ParameterWriter(sink, types);
    this.part = new SequenceReader(new UntilReader(word::append, MAX_NAME, ">"), body());
  }

  private Reader body() {
    return new ChoiceReader(c -> c == '{' ? json() : beginParameters());
  }

  private Reader json() {
    return new SequenceReader(new ArgumentsReader(sink, word::toString), new LiteralReader(CLOSE));
  }

  private Reader beginParameters() {
    return writer.begin(word.toString().strip()) ? new Parameters() : null;
  }

  @Override
  public Step accept(char c) {
    return part.accept(c);
  }

  /** The parameters and the closing tag. */
  private final class Parameters implements Reader {
    private final StringBuilder tag = new StringBuilder();
    private Reader parameter;

    @Override
    public Step accept(char c) {
      if (parameter != null) {
        return parameter(c);
      }
      if (tag.isEmpty() && Character.isWhitespace(c)) {
        return Step.MORE;
      }
      tag.append(c);
      if (tag.toString().equals(CLOSE)) {
        writer.end();
        return Step.DONE;
      }
      if (tag.toString().equals(PARAMETER)) {
        tag.setLength(0);
        parameter = parameter();
        return Step.MORE;
      }
      boolean mayContinue =
          CLOSE.startsWith(tag.toString()) || PARAMETER.startsWith(tag.toString());
      return mayContinue ? Step.MORE : Step.MALFORMED;
    }

    private Step parameter(char c) {
      Step step = parameter.accept(c);
      if (step == Step.DONE) {
        writer.endParameter();
        parameter = null;
        return Step.MORE;
      }
      return step;
    }

    private Reader parameter() {
      word.setLength(0);
      UntilReader name = new UntilReader(word::append, MAX_NAME, ">");
      UntilReader value = new UntilReader(writer::value, Integer.MAX_VALUE, PARAMETER_END);
      return new SequenceReader(
          c -> {
            Step step = name.accept(c);
            if (step == Step.DONE) {
              writer.beginParameter(word.toString().strip());
            }
            return step;
          },
          value);
    }
  }
}
