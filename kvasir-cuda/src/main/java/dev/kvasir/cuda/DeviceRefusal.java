package dev.kvasir.cuda;

import dev.kvasir.error.InvalidInputException;

/** What a device cannot do for this process, as a sentence for people; nothing has changed. */
public final class DeviceRefusal extends InvalidInputException {
  private static final long serialVersionUID = 1L;

  DeviceRefusal(String sentence) {
    super(sentence);
  }

  DeviceRefusal(String sentence, Throwable cause) {
    super(sentence, cause);
  }
}
