package dev.kvasir.error;

/** Thrown when a prompt exceeds the context or the memory of its cache; nothing has changed. */
public final class TooLongException extends InvalidInputException {
  private static final long serialVersionUID = 1L;

  public TooLongException(String sentence) {
    super(Reason.TOO_LONG, sentence);
  }
}
