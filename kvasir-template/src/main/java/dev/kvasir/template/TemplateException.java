package dev.kvasir.template;

/** A chat template that cannot be read, or that refuses the conversation it was given. */
public final class TemplateException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int line;

  TemplateException(String template, int line, String found) {
    super("Chat template '" + template + "', line " + line + ": " + sentence(found));
    this.line = line;
  }

  /** A message that the template itself raised may have its own full stop. */
  private static String sentence(String found) {
    return found.matches("(?s).*[.!?]\\s*") ? found : found + ".";
  }

  /** The line of the template's source, counted from one. */
  public int line() {
    return line;
  }
}
