package dev.kvasir.chat.syntax;

/**
 * Reads calls that are JSON objects: an array of them, or one or more with commas, semicolons or
 * white space between.
 */
final class JsonCallsReader implements Reader {
  private final CallSink sink;
  private final boolean isStrict;
  private JsonCallReader call;
  private boolean isArray;
  private int count;

  /**
   * @param isStrict whether nothing marks the objects as calls
   */
  JsonCallsReader(CallSink sink, boolean isStrict) {
    this.sink = sink;
    this.isStrict = isStrict;
  }

  @Override
  public Step accept(char c) {
    if (call != null) {
      Step step = call.accept(c);
      call = step == Step.DONE ? null : call;
      return step == Step.DONE ? Step.MORE : step;
    }
    if (Character.isWhitespace(c)) {
      return Step.MORE;
    }
    if (c == '{') {
      call = new JsonCallReader(sink, isStrict);
      count++;
      return call.accept(c);
    }
    if (c == '[' && count == 0 && !isArray) {
      isArray = true;
      return Step.MORE;
    }
    if (count == 0) {
      return Step.MALFORMED;
    }
    if (c == ',' || c == ';' && !isArray) {
      return Step.MORE;
    }
    if (isArray) {
      return c == ']' ? Step.DONE : Step.MALFORMED;
    }
    return Step.DONE_BEFORE;
  }
}
