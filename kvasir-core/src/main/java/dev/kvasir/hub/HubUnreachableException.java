package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;

/** Thrown when a hub does not answer; what the cache has may be used instead. */
final class HubUnreachableException extends InvalidInputException {
  private static final long serialVersionUID = 1L;

  HubUnreachableException(String sentence) {
    super(Reason.BUSY, sentence);
  }
}
