package dev.kvasir.cache;

import dev.kvasir.error.InvalidInputException;

/**
 * The kind of cache that a user asks for, as typed: {@code name[:bits][,key=value...]}.
 *
 * @param name the method
 */
public record CacheSpec(String name) {
  private static final String HALF = "fp16";

  /** Half precision. */
  public static final CacheSpec DEFAULT = new CacheSpec(HALF);

  public static CacheSpec parse(String text) {
    if (!text.equals(HALF)) {
      throw new InvalidInputException(
          "the cache '%s' is unknown; known is %s".formatted(text, HALF));
    }
    return new CacheSpec(text);
  }

  public KvCache newCache(CacheShape shape) {
    return new HalfCache(shape);
  }

  /** Bytes that {@code tokens} positions will take. */
  public long bytesFor(CacheShape shape, long tokens) {
    return HalfCache.bytesFor(shape, tokens);
  }

  @Override
  public String toString() {
    return name;
  }
}
