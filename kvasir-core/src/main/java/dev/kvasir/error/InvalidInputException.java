package dev.kvasir.error;

/**
 * Something a user handed over cannot be used. The message is one sentence for that user: what was
 * found, where, and what was expected; a command line prints it as it is.
 */
public class InvalidInputException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public InvalidInputException(String sentence) {
    super(sentence);
  }

  public InvalidInputException(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
