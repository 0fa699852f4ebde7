package dev.kvasir.chat;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheContents;
import dev.kvasir.cache.CacheRun;
import dev.kvasir.codec.CacheShape;
import java.util.List;

/** A snapshot of the memory of one sequence. */
public record CacheUsage(int tokens, CacheBytes bytes, List<CacheRun> runs) {
  /** Takes a snapshot of a cache that the caller may use. */
  public static CacheUsage of(CacheContents cache) {
    cache.pin();
    try {
      return new CacheUsage(cache.length(), cache.bytes(), cache.runs());
    } finally {
      cache.unpin();
    }
  }

  /**
   * Returns all bytes, in bits per value that is still attended to; 0 for an empty cache.
   *
   * @param shape the shape of the cache
   */
  public double bits(CacheShape shape) {
    return tokens == 0 ? 0 : 8.0 * bytes.keysAndValues() / shape.valuesInWindows(tokens);
  }
}
