package dev.kvasir.template;

/** A chat template that cannot be parsed, or that rejects its variables. */
public final class TemplateException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int line;

  TemplateException(String template, int line, String found) {
    super("Chat template '" + template + "', line " + line + ": " + sentence(found));
    this.line = line;
  }

  /** A message that the template raised may have its own full stop. */
  private static String sentence(String found) {
    return found.matches("(?s).*[.!?]\\s*") ? found : found + ".";
  }

  /** Returns the line of the template source, counted from one. */
  public int line() {
    return line;
  }
}
