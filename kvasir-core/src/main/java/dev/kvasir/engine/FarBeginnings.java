package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;
import java.util.Optional;

/**
 * Beginnings of texts that outlive memory: kept by this process or another, on a disk or elsewhere.
 * Whoever keeps them never fails: what cannot be had is not there, and nobody waits for it longer
 * than for a stated time.
 */
public interface FarBeginnings {
  /**
   * A beginning of a text, where one is to be had sooner than by reading.
   *
   * @param known tokens of the text that are at hand: less than that is of no use
   * @return with more tokens than that and less than the text has; it belongs to whoever asked
   */
  Optional<KvCache> find(PrefixCache.Kind kind, int[] text, int known);

  /**
   * Takes a beginning to be stored, in its own time.
   *
   * @param text may be longer than what the cache holds of it
   * @param cache closed when it is stored, or will not be
   */
  void keep(PrefixCache.Kind kind, int[] text, KvCache cache);

  /** Learns how long it took to read tokens of a prompt. */
  void read(int tokens, long nanos);
}
