package dev.kvasir.memory;

import dev.kvasir.error.InvalidInputException;

/** Thrown when a pool has fewer bytes than requested; nothing has changed. */
public final class MemoryFullException extends InvalidInputException {
  private static final long serialVersionUID = 1L;

  MemoryFullException(long requested, long used, long limit) {
    super(
        Reason.BUSY,
        "%,d bytes are needed for keys and values; %,d of %,d are taken"
            .formatted(requested, used, limit));
  }
}
