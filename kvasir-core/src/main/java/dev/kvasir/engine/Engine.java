package dev.kvasir.engine;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.profile.Profile;
import java.util.Optional;

/**
 * What runs steps: it owns the weights and the memory that pages lie in. Sequences, batches and the
 * loop over them are the same whichever engine serves them.
 */
public interface Engine extends AutoCloseable {
  /** What the keys and values of all its sequences are taken from. */
  MemoryPool memory();

  /** An empty cache, whose pages lie where this engine attends to them. */
  KvCache newCache(CacheSpec spec, Optional<Profile> profile, int contextLimit);

  /** A cache of a sequence that was stored, by {@link KvCache#form}. */
  KvCache restoreCache(
      CacheSpec spec, Optional<Profile> profile, int contextLimit, CacheSnapshot snapshot);

  /**
   * Runs one step over the rows of a batch: appends every row to its cache and leaves the wanted
   * logits in the batch. Nothing is packed, which {@link KvCache#settle} does between steps. A
   * sequence that fails leaves the others as they are without it, and {@link Batch#failure} tells
   * why; its cache holds what it held before.
   *
   * <p>Steps may come from several threads at once, on different sequences.
   */
  void step(Batch batch);

  @Override
  void close();
}
