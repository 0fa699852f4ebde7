package dev.kvasir.cuda.driver;

import dev.kvasir.error.InvalidInputException;

/**
 * Thrown when a device cannot do what was requested. The message is for users; no state has
 * changed.
 */
public final class DeviceException extends InvalidInputException {
  private static final long serialVersionUID = 1L;

  public DeviceException(String sentence) {
    super(sentence);
  }

  public DeviceException(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
