package dev.kvasir.cache;

/**
 * Neighbouring tokens that a cache keeps alike.
 *
 * @param width bits of codes alone for each value
 * @param bits for each value, scales included
 */
public record CacheRun(int tokens, double width, double bits, Kind kind) {
  /** What tokens are to a cache. */
  public enum Kind {
    /** The first ones, in full precision for ever. */
    SINKS,
    /** Packed ones. */
    PAGES,
    /** Recent ones, in full precision. */
    WINDOW
  }

  boolean isLike(CacheRun other) {
    return bits == other.bits && kind == other.kind;
  }

  CacheRun and(int more) {
    return new CacheRun(tokens + more, width, bits, kind);
  }
}
