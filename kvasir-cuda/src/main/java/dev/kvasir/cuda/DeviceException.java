package dev.kvasir.cuda;

import dev.kvasir.error.InvalidInputException;

/** What a device cannot do for this process, as a sentence for people; nothing has changed. */
public final class DeviceException extends InvalidInputException {
  private static final long serialVersionUID = 1L;

  DeviceException(String sentence) {
    super(sentence);
  }

  DeviceException(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
