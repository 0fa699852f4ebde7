package dev.kvasir.server.watch;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheRun;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import java.util.List;

/** What a sequence held at a moment. */
public record CacheUsage(int tokens, CacheBytes bytes, List<CacheRun> runs) {
  /** By whoever may use the cache now. */
  public static CacheUsage of(KvCache cache) {
    cache.pin();
    try {
      return new CacheUsage(cache.length(), cache.bytes(), cache.runs());
    } finally {
      cache.unpin();
    }
  }

  /**
   * All bytes, in bits, for each value that is still read; 0 while it holds none.
   *
   * @param shape of the cache
   */
  public double bits(CacheShape shape) {
    return tokens == 0 ? 0 : 8.0 * bytes.total() / shape.valuesInWindows(tokens);
  }
}
