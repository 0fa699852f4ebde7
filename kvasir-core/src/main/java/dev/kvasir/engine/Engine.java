package dev.kvasir.engine;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.profile.Profile;
import java.util.Optional;

/**
 * Runs decoder steps; it owns the weights and the memory of pages. Requests, batches and the
 * scheduler are independent of the engine.
 */
public interface Engine extends AutoCloseable {
  /** Returns the pool of all its KV caches. */
  MemoryPool memory();

  /** Creates an empty cache, whose pages are in this engine's memory. */
  KvCache newCache(CacheSpec spec, Optional<Profile> profile, int contextLimit);

  /** Restores a cache from a {@link KvCache#snapshot}. */
  KvCache restoreCache(
      CacheSpec spec, Optional<Profile> profile, int contextLimit, CacheSnapshot snapshot);

  /**
   * Runs one step over the rows of a batch: appends every row to its cache and leaves the requested
   * logits in the batch. It does not quantize; {@link KvCache#quantizeWindow} does that between
   * steps. A sequence that fails does not affect the others: {@link Batch#failure} returns the
   * reason, and its cache is unchanged.
   *
   * <p>Several threads may run steps at once, on different sequences.
   */
  void step(Batch batch);

  /** Returns whether other steps may run in the midst of one. */
  default boolean isPreemptible() {
    return false;
  }

  /** Runs a step in whose midst other work may run, which may include steps of this engine. */
  default void step(Batch batch, Preemption preemption) {
    step(batch);
  }

  /**
   * Returns whether the rows of a draft have the bits of single rows, so that speculation changes
   * no text.
   */
  default boolean verifiesDrafts() {
    return false;
  }

  @Override
  void close();
}
