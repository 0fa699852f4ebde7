package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;
import java.util.Optional;

/**
 * Beginnings of texts that outlive memory: kept by this process or another, on a disk or elsewhere.
 * Whoever keeps them never fails: what cannot be had is not there, and nobody waits for it longer
 * than for a stated time.
 */
public interface RemotePrefixCache {
  /**
   * A beginning of a text, where one is to be had sooner than by reading.
   *
   * @param known tokens of the text that are at hand: less than that is of no use
   * @return with more tokens than that and less than the text has; it belongs to whoever asked
   */
  Optional<KvCache> find(PrefixCache.PrefixNamespace namespace, int[] text, int known);

  /**
   * Takes a beginning to be stored, in its own time.
   *
   * @param text may be longer than what the cache holds of it
   * @param owner by whom it can be forgotten; may be null
   * @param cache closed when it is stored, or will not be
   */
  void store(PrefixCache.PrefixNamespace namespace, int[] text, String owner, KvCache cache);

  /**
   * Removes what was stored for an owner, in its own time, also by other processes. Where others
   * began from a part of it, they store it again.
   */
  void forget(String tenant, String owner);

  /** Learns how long it took to read tokens of a prompt. */
  void recordPrefill(int tokens, long nanos);
}
