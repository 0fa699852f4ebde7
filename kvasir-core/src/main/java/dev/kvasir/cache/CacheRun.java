package dev.kvasir.cache;

/**
 * A run of neighbouring tokens with the same representation.
 *
 * @param width bits per value of the codes alone
 * @param bits bits per value, scales included
 */
public record CacheRun(int tokens, double width, double bits, Kind kind) {
  /** The part of a cache that tokens belong to. */
  public enum Kind {
    /** Attention sinks, always in full precision. */
    SINKS,
    /** Quantized pages. */
    PAGES,
    /** The residual window, in full precision. */
    WINDOW
  }

  boolean isLike(CacheRun other) {
    return bits == other.bits && kind == other.kind;
  }

  CacheRun and(int more) {
    return new CacheRun(tokens + more, width, bits, kind);
  }
}
