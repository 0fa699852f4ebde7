package dev.kvasir.cache;

import dev.kvasir.error.InvalidInputException;

/** A cache's budget cannot take more tokens; what it holds is untouched. */
public final class CacheFullException extends InvalidInputException {
  private static final long serialVersionUID = 1L;

  public CacheFullException(String message) {
    super(message);
  }
}
