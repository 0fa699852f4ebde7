package dev.kvasir.error;

import dev.kvasir.KvasirException;

/**
 * Thrown when something that a user provided cannot be used. The message is one sentence for that
 * user: what was found, where, and what was expected. The command line prints it unchanged.
 */
public class InvalidInputException extends KvasirException {
  private static final long serialVersionUID = 1L;

  public InvalidInputException(String sentence) {
    super(Reason.INVALID_INPUT, sentence);
  }

  public InvalidInputException(String sentence, Throwable cause) {
    super(Reason.INVALID_INPUT, sentence, cause);
  }

  /** Creates an exception that is handled like invalid input, for another reason. */
  protected InvalidInputException(Reason reason, String sentence) {
    super(reason, sentence);
  }
}
