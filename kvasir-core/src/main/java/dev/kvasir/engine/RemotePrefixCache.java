package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;
import java.util.Optional;

/**
 * A persistent cache of prefixes, on a disk or shared with other processes. Its methods never fail:
 * what is unavailable counts as missing, and waiting times are bounded.
 */
public interface RemotePrefixCache {
  /**
   * Returns a cached prefix if loading it is faster than prefill.
   *
   * @param known tokens of the text that are cached in memory; a shorter prefix is useless
   * @return a cache with more tokens than {@code known} and fewer than the text, owned by the
   *     caller
   */
  Optional<KvCache> find(PrefixCache.PrefixNamespace namespace, int[] text, int known);

  /**
   * Stores a prefix asynchronously.
   *
   * @param text may be longer than the cached tokens
   * @param owner identifies the entry for {@link #forget}; may be null
   * @param cache closed after it has been stored or dropped
   */
  void store(PrefixCache.PrefixNamespace namespace, int[] text, String owner, KvCache cache);

  /**
   * Removes an owner's entries asynchronously, including those of other processes. Others that
   * share a prefix with them store it again.
   */
  void forget(String tenant, String owner);

  /**
   * Where a prefix was fetched from.
   *
   * @param place such as disk or redis
   * @param nanos time that the fetch took
   */
  record Origin(String place, long nanos) {}

  /** Returns where the prefix of a cache was fetched from, if it was. */
  Optional<Origin> originOf(KvCache cache);

  /** Records the time of a prefill. */
  void recordPrefill(int tokens, long nanos);
}
