package dev.kvasir;

/**
 * Thrown when something cannot be done. The message is one sentence for the user: what was found,
 * where, and what was expected. Since parts of it may come from a hostile file, characters that
 * could move a terminal's cursor or split the line are replaced.
 *
 * <p>Arguments that no caller should pass, and calls on closed objects, are reported as {@link
 * IllegalArgumentException} and {@link IllegalStateException}.
 */
public class KvasirException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Reason reason;

  /** What a caller can do about a failure. */
  public enum Reason {
    /** What was given can never be used. */
    INVALID_INPUT,
    /** The prompt exceeds the context or the memory of all caches. */
    TOO_LONG,
    /** Too many requests are queued, or the memory is full; a retry may succeed. */
    BUSY,
    /** The completion took longer than the chat model allows. */
    TIMED_OUT,
    /** The chat model is closed. */
    CLOSED,
    /** An internal error; its cause is attached. */
    FAILED
  }

  public KvasirException(Reason reason, String message) {
    super(printable(message));
    this.reason = reason;
  }

  public KvasirException(Reason reason, String message, Throwable cause) {
    super(printable(message), cause);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }

  private static String printable(String sentence) {
    StringBuilder line = new StringBuilder(sentence.length());
    sentence.codePoints().map(c -> isPrintable(c) ? c : 0xFFFD).forEach(line::appendCodePoint);
    return line.toString();
  }

  private static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }
}
