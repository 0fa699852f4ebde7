package dev.kvasir.server.watch;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheRun;
import dev.kvasir.cache.KvCache;
import java.util.List;

/** What a sequence held at a moment. */
public record CacheAccount(int tokens, CacheBytes bytes, List<CacheRun> runs) {
  /** By whoever may use the cache now. */
  public static CacheAccount of(KvCache cache) {
    cache.enter();
    try {
      return new CacheAccount(cache.length(), cache.bytes(), cache.runs());
    } finally {
      cache.leave();
    }
  }

  /**
   * All bytes, in bits, for each value; 0 while it holds none.
   *
   * @param valuesPerToken of all layers
   */
  public double bits(long valuesPerToken) {
    return tokens == 0 ? 0 : 8.0 * bytes.total() / (tokens * valuesPerToken);
  }
}
