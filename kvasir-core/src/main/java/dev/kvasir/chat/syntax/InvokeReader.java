package dev.kvasir.chat.syntax;

/**
 * Reads calls after the tag that begins a block of them, up to the one that ends it:
 *
 * <pre>
 * &lt;invoke name="NAME">
 * &lt;parameter name="KEY">VALUE&lt;/parameter>
 * &lt;/invoke>
 * </pre>
 *
 * <p>DeepSeek puts {@code ｜DSML｜} before the name of each tag, and says for each value whether it
 * is a string: {@code string="true"}.
 */
final class InvokeReader implements Reader {
  private static final int MAX_HEADER = 400;

  private final String invoke;
  private final String invokeEnd;
  private final String parameter;
  private final String parameterEnd;
  private final String blockEnd;
  private final ParameterWriter writer;
  private final StringBuilder tag = new StringBuilder();
  private final StringBuilder header = new StringBuilder();
  private Reader part; // after a tag; null while a tag is read
  private boolean isInCall;

  /**
   * @param prefix before the names of tags
   * @param block the name of the tag around all calls
   */
  InvokeReader(CallSink sink, ParameterTypes types, String prefix, String block) {
    this.invoke = "<" + prefix + "invoke name=\"";
    this.invokeEnd = "</" + prefix + "invoke>";
    this.parameter = "<" + prefix + "parameter name=\"";
    this.parameterEnd = "</" + prefix + "parameter>";
    this.blockEnd = "</" + prefix + block + ">";
    this.writer = ParameterWriter.ofExactText(sink, types);
  }

  @Override
  public Step accept(char c) {
    if (part != null) {
      return part(c);
    }
    if (tag.isEmpty() && Character.isWhitespace(c)) {
      return Step.MORE;
    }
    tag.append(c);
    String text = tag.toString();
    if (isInCall) {
      return inCall(text);
    }
    if (text.equals(blockEnd)) {
      return Step.DONE;
    }
    if (text.equals(invoke)) {
      begin(header(this::beginCall));
      return Step.MORE;
    }
    return mayContinue(text, invoke, blockEnd);
  }

  private Step inCall(String text) {
    if (text.equals(invokeEnd)) {
      writer.end();
      isInCall = false;
      tag.setLength(0);
      return Step.MORE;
    }
    if (text.equals(parameter)) {
      begin(
          new SequenceReader(
              header(this::beginParameter),
              new UntilReader(writer::value, Integer.MAX_VALUE, parameterEnd)));
      return Step.MORE;
    }
    return mayContinue(text, parameter, invokeEnd);
  }

  private static Step mayContinue(String text, String first, String second) {
    return first.startsWith(text) || second.startsWith(text) ? Step.MORE : Step.MALFORMED;
  }

  private void begin(Reader reader) {
    tag.setLength(0);
    header.setLength(0);
    part = reader;
  }

  private Step part(char c) {
    Step step = part.accept(c);
    if (step != Step.DONE) {
      return step;
    }
    if (isInCall && part instanceof SequenceReader) {
      writer.endParameter();
    }
    isInCall = true;
    part = null;
    return Step.MORE;
  }

  private interface Header {
    boolean begin(String name, String attributes);
  }

  /** Reads the rest of a tag whose name attribute has begun. */
  private Reader header(Header use) {
    UntilReader rest = new UntilReader(header::append, MAX_HEADER, ">");
    return c -> {
      Step step = rest.accept(c);
      int quote = header.indexOf("\"");
      boolean isValid = step != Step.DONE || quote > 0;
      if (step == Step.DONE && isValid) {
        isValid = use.begin(header.substring(0, quote), header.substring(quote + 1));
      }
      return isValid ? step : Step.MALFORMED;
    };
  }

  private boolean beginCall(String name, String attributes) {
    return writer.begin(name.strip());
  }

  private boolean beginParameter(String name, String attributes) {
    if (attributes.contains("string=")) {
      writer.beginParameter(name, attributes.contains("string=\"true\""));
    } else {
      writer.beginParameter(name);
    }
    return true;
  }
}
