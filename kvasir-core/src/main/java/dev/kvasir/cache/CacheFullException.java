package dev.kvasir.cache;

import dev.kvasir.error.InvalidInputException;

/** Thrown when a cache's budget cannot take more tokens; the cache is unchanged. */
public final class CacheFullException extends InvalidInputException {
  private static final long serialVersionUID = 1L;

  public CacheFullException(String message) {
    super(Reason.TOO_LONG, message);
  }
}
