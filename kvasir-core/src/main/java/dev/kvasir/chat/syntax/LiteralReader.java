package dev.kvasir.chat.syntax;

/** Reads a fixed text after optional white space. */
final class LiteralReader implements Reader {
  private final String text;
  private int at;

  LiteralReader(String text) {
    this.text = text;
  }

  @Override
  public Step accept(char c) {
    if (at == 0 && Character.isWhitespace(c) && text.charAt(0) != c) {
      return Step.MORE;
    }
    if (text.charAt(at) != c) {
      return Step.MALFORMED;
    }
    at++;
    return at == text.length() ? Step.DONE : Step.MORE;
  }
}
