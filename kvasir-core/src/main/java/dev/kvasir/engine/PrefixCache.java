package dev.kvasir.engine;

import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.KvCache;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.ProtectedMappings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Caches prefixes of texts, so that other requests need not prefill them again. An entry is a fork
 * of a sequence: pages are shared and counted once.
 *
 * <p>A text that starts from a cached prefix gets the same bits as one that is prefilled from its
 * first token. A prefix is therefore cached only where every prompt with that prefix has the same
 * cache state.
 *
 * <pre>
 * text     | 256 | 256 | 256 | 256 | rest | answer |
 *                ^           ^            ^        ^
 *                |           |            |        (b) start of the next turn
 *                |           |            (b) start of another answer to the same prompt
 *                |           (a) the last whole step: start of the next turn
 *                the last step in common with another text: start of others
 * </pre>
 *
 * With most caches that is (a) the end of a prefill step, at a multiple of {@link
 * Request#PREFILL_STEP} tokens: generated tokens are quantized at other positions, and prompt
 * tokens attend to quantized pages differently. Where quantization depends on positions alone, it
 * is (b) any position. Such an entry also serves a text that matches only part of it, as long as no
 * step ends in between.
 *
 * <p>Between steps the rest of a page is in full precision. An entry at every step would therefore
 * take as much memory as no quantization, so there are two or three per text. When memory is
 * needed, the least recently used entries are evicted first. If a budget limits prefill steps to
 * fewer tokens, nothing is cached.
 *
 * <p>Where prompts are quantized only at their end, the entries of a text are in full precision,
 * since they end within its prompt. They serve every prompt with that prefix, which is quantized as
 * a whole at its own end.
 *
 * <p>Thread-safe.
 */
public final class PrefixCache implements MemoryPool.Reclaimable, AutoCloseable {
  private static final int STEP = Request.PREFILL_STEP;

  /** Number of step hashes that are remembered to detect common prefixes. */
  private static final int STEPS_REMEMBERED = 1 << 16;

  /**
   * Everything besides tokens that must match; the model and its profile always do within an
   * engine.
   *
   * @param spec the cache specification, as typed
   * @param contextLimit maximum context, which some budgets depend on
   * @param tenant owner of the texts; tenants never share prefixes, since timing would reveal them
   */
  public record PrefixNamespace(String spec, int contextLimit, String tenant) {
    private boolean isOf(String other) {
      return tenant.equals(other);
    }
  }

  /**
   * Counters since creation.
   *
   * @param queries texts looked up
   * @param hits texts with a cached prefix
   * @param tokens prompt tokens served from the cache
   * @param remoteHits hits in the remote cache
   * @param evictions prefixes evicted for lack of memory
   */
  public record PrefixStats(long queries, long hits, long tokens, long remoteHits, long evictions) {
    private PrefixStats withQuery(int known, boolean isRemote) {
      return new PrefixStats(
          queries + 1,
          hits + (known > 0 ? 1 : 0),
          tokens + known,
          remoteHits + (isRemote ? 1 : 0),
          evictions);
    }

    private PrefixStats withEvictions(int removed) {
      return new PrefixStats(queries, hits, tokens, remoteHits, evictions + removed);
    }
  }

  /**
   * A cached prefix as seen from outside.
   *
   * @param owner the owner of the text; null if several texts share it
   */
  public record PrefixInfo(String owner, PrefixNamespace namespace, int tokens, KvCache cache) {}

  private final MemoryPool pool;
  private long mappingFaults = ProtectedMappings.faults();
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<StepHash, List<CachedPrefix>> byHash = new HashMap<>();
  private final Set<CachedPrefix> byUse = new LinkedHashSet<>(); // least recently used first
  private final Set<StepHash> stepsSeen = new LinkedHashSet<>(); // oldest first
  private final Set<PrefixRecorder> recorders = Collections.newSetFromMap(new WeakHashMap<>());
  private CachedPrefix forking; // not evicted for the memory of its own fork
  private PrefixStats stats = new PrefixStats(0, 0, 0, 0, 0);
  private volatile RemotePrefixCache remote; // null for none
  private boolean closed;

  /**
   * @param pool the pool of KV caches, which reclaims memory from here when it is full
   */
  public PrefixCache(MemoryPool pool) {
    this.pool = pool;
    pool.register(this);
  }

  /**
   * Returns a cache for a text with its longest known prefix.
   *
   * @param owner identifies what this text adds to the cache; may be null
   * @param newCache creates the cache of a text without a known prefix
   */
  public Prefix acquire(
      PrefixNamespace namespace, int[] text, String owner, Supplier<KvCache> newCache) {
    StepHash[] steps = StepHash.of(namespace, text);
    CachedPrefix source;
    KvCache known;
    PrefixRecorder recorder;
    lock.lock();
    try {
      checkOpen();
      dropAfterFault();
      recorder = new PrefixRecorder(this, namespace, steps, text, owner, recordSteps(steps));
      recorders.add(recorder);
      source = longestMatch(namespace, steps, text);
      known = source == null ? null : fork(source, source.matchLength(text));
    } finally {
      lock.unlock();
    }
    // Outside of the lock: a remote lookup takes time, and the first cache of its kind may wait for
    // tables that another thread creates.
    Optional<KvCache> found = findRemote(namespace, text, known == null ? 0 : known.length());
    KvCache longest = found.orElse(known);
    count(longest == null ? 0 : longest.length(), found.isPresent());
    if (longest == null) {
      return new Prefix(newCache.get(), null, recorder);
    }
    if (found.isPresent()) {
      closeIfAny(known);
      return new Prefix(longest, recorder.recordLocally(longest), recorder);
    }
    return new Prefix(known, source, recorder);
  }

  private Optional<KvCache> findRemote(PrefixNamespace namespace, int[] text, int known) {
    RemotePrefixCache remoteCache = remote;
    return remoteCache == null ? Optional.empty() : remoteCache.find(namespace, text, known);
  }

  private static void closeIfAny(KvCache cache) {
    if (cache != null) {
      cache.close();
    }
  }

  private void count(int known, boolean isRemote) {
    lock.lock();
    try {
      stats = stats.withQuery(known, isRemote);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sets the remote cache for prefixes that are not in memory; new ones are stored there too.
   *
   * @param remoteCache null for none
   */
  public void setRemote(RemotePrefixCache remoteCache) {
    remote = remoteCache;
  }

  /** Returns where the prefix of a cache was fetched from; empty unless from the remote cache. */
  public Optional<RemotePrefixCache.Origin> originOf(KvCache cache) {
    RemotePrefixCache remoteCache = remote;
    return remoteCache == null ? Optional.empty() : remoteCache.originOf(cache);
  }

  /** Returns whether {@link #acquire} may take memory for prefixes from the remote cache. */
  public boolean hasRemote() {
    return remote != null;
  }

  /** Records the time of a prefill. */
  public void recordPrefill(int tokens, long nanos) {
    RemotePrefixCache remoteCache = remote;
    if (remoteCache != null && tokens > 0) {
      remoteCache.recordPrefill(tokens, nanos);
    }
  }

  /** Remembers a text's steps and returns the tokens in common with an earlier text. */
  private int recordSteps(StepHash[] steps) {
    int common = 0;
    for (StepHash step : steps) {
      common = stepsSeen.remove(step) ? step.length() : common;
      stepsSeen.add(step);
    }
    while (stepsSeen.size() > STEPS_REMEMBERED) {
      stepsSeen.remove(stepsSeen.iterator().next());
    }
    return common;
  }

  private CachedPrefix longestMatch(PrefixNamespace namespace, StepHash[] steps, int[] text) {
    for (int count = steps.length; count >= 0; count--) {
      CachedPrefix entry = longestMatch(StepHash.last(namespace, steps, count), text);
      if (entry != null) {
        byUse.remove(entry);
        byUse.add(entry);
        return entry;
      }
    }
    return null;
  }

  private CachedPrefix longestMatch(StepHash step, int[] text) {
    CachedPrefix best = null;
    int bestLength = 0;
    for (CachedPrefix entry : byHash.getOrDefault(step, List.of())) {
      int length = entry.matchLength(text);
      if (length > bestLength) {
        bestLength = length;
        best = entry;
      }
    }
    return best;
  }

  private boolean contains(StepHash step, int[] text, int length) {
    return byHash.getOrDefault(step, List.of()).stream()
        .anyMatch(entry -> entry.matches(text, length));
  }

  /** Returns null if there is no memory for the fork; the whole text is prefilled then. */
  private KvCache fork(CachedPrefix entry, int length) {
    forking = entry;
    try {
      KvCache fork = forkOf(entry.cache());
      if (fork != null && length < fork.length()) {
        fork.truncate(length);
      }
      return fork;
    } finally {
      forking = null;
    }
  }

  private static KvCache forkOf(KvCache cache) {
    cache.pin();
    try {
      return cache.fork();
    } catch (CacheFullException e) {
      return null;
    } finally {
      cache.unpin();
    }
  }

  /**
   * Stores a prefix unless it is cached already or memory is short. A prompt that is quantized at
   * its end is in full precision here, which is too much to send elsewhere.
   */
  private void store(
      PrefixRecorder recorder, StepHash step, int[] text, int length, String owner, KvCache cache) {
    boolean isStored = storeLocally(recorder, step, text, length, owner, cache) != null;
    if (isStored && remote != null && !cache.defersPrompts()) {
      KvCache fork = forkOf(cache);
      if (fork != null) {
        // Even a shared prefix keeps its owner here, since it is part of the owner's text.
        remote.store(step.namespace(), text, recorder.owner, fork);
      }
    }
  }

  /**
   * Removes everything after the bytes of a mapped file could not be read, since pages may be
   * mapped from it. Requests that are running now add nothing more.
   */
  private void dropAfterFault() {
    long faults = ProtectedMappings.faults();
    if (faults != mappingFaults) {
      mappingFaults = faults;
      recorders.clear();
      removeWhere(entry -> true, Long.MAX_VALUE);
    }
  }

  /** Returns null if it need not or cannot be cached. */
  private CachedPrefix storeLocally(
      PrefixRecorder recorder, StepHash step, int[] text, int length, String owner, KvCache cache) {
    lock.lock();
    try {
      dropAfterFault();
      if (closed || !recorders.contains(recorder) || contains(step, text, length)) {
        return null;
      }
      KvCache fork = forkOf(cache);
      if (fork == null) {
        return null;
      }
      CachedPrefix entry = new CachedPrefix(step, owner, Arrays.copyOf(text, length), fork);
      byHash.computeIfAbsent(step, any -> new ArrayList<>()).add(entry);
      byUse.add(entry);
      return entry;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes the prefixes of an owner's texts from memory, except those shared with other texts, and
   * all of them from the remote cache. Requests that are running now add nothing more.
   */
  public void forget(String tenant, String owner) {
    lock.lock();
    try {
      recorders.removeIf(
          recorder -> recorder.namespace.isOf(tenant) && owner.equals(recorder.owner));
      removeWhere(
          entry -> entry.key().namespace().isOf(tenant) && owner.equals(entry.owner()),
          Long.MAX_VALUE);
    } finally {
      lock.unlock();
    }
    RemotePrefixCache remoteCache = remote;
    if (remoteCache != null) {
      remoteCache.forget(tenant, owner);
    }
  }

  /** Removes everything; requests that started from here are unaffected. */
  public void clear() {
    lock.lock();
    try {
      removeWhere(entry -> true, Long.MAX_VALUE);
    } finally {
      lock.unlock();
    }
  }

  /** Evicts prefixes, least recently used first, before any pages are requantized. */
  @Override
  public void reclaim(int level, long bytes) {
    // A holder of the lock never waits for the caller's locks: forks acquire memory, not locks.
    lock.lock();
    try {
      stats = stats.withEvictions(removeWhere(entry -> entry != forking, bytes));
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of removed entries. */
  private int removeWhere(Predicate<CachedPrefix> isRemoved, long bytes) {
    long before = pool.usedBytes();
    int removed = 0;
    for (Iterator<CachedPrefix> all = byUse.iterator(); all.hasNext(); ) {
      CachedPrefix entry = all.next();
      if (isRemoved.test(entry) && before - pool.usedBytes() < bytes) {
        all.remove();
        byHash.computeIfPresent(entry.key(), (key, list) -> without(list, entry));
        entry.cache().close();
        removed++;
      }
    }
    return removed;
  }

  private static List<CachedPrefix> without(List<CachedPrefix> list, CachedPrefix entry) {
    list.remove(entry);
    return list.isEmpty() ? null : list;
  }

  public PrefixStats stats() {
    lock.lock();
    try {
      return stats;
    } finally {
      lock.unlock();
    }
  }

  /** Visits all entries, least recently used first; none is evicted meanwhile. */
  public void forEach(Consumer<PrefixInfo> consumer) {
    lock.lock();
    try {
      for (CachedPrefix entry : byUse) {
        consumer.accept(
            new PrefixInfo(
                entry.owner(), entry.key().namespace(), entry.tokens().length, entry.cache()));
      }
    } finally {
      lock.unlock();
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this prefix cache is closed");
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      clear();
    } finally {
      lock.unlock();
    }
    pool.unregister(this);
  }

  /** Records prefixes of one running text for others: three at most. */
  static final class PrefixRecorder {
    private final PrefixCache prefixCache;
    private final PrefixNamespace namespace;
    private final StepHash[] steps;
    private final int[] text;
    private final String owner;
    private final int common;

    private PrefixRecorder(
        PrefixCache prefixCache,
        PrefixNamespace namespace,
        StepHash[] steps,
        int[] text,
        String owner,
        int common) {
      this.prefixCache = prefixCache;
      this.namespace = namespace;
      this.steps = steps;
      this.text = text;
      this.owner = owner;
      this.common = common;
    }

    /** Called after a whole prefill step has been computed and quantized. */
    void prefillStepDone(KvCache cache, int stepEnd, boolean recordsLast) {
      StepHash step = steps[stepEnd / STEP - 1];
      if (stepEnd == common) {
        prefixCache.store(this, step, text, stepEnd, null, cache);
      } else if (recordsLast && stepEnd == steps.length * STEP) {
        prefixCache.store(this, step, text, stepEnd, owner, cache);
      }
    }

    /** Records a prefix from the remote cache; other texts start from the result. */
    CachedPrefix recordLocally(KvCache cache) {
      int length = cache.length();
      return prefixCache.storeLocally(
          this, StepHash.last(namespace, steps, length / STEP), text, length, owner, cache);
    }

    /** Records a prefix that may end at any position. */
    void record(KvCache cache, int[] tokens, int length) {
      int[] recorded = Arrays.copyOf(tokens, length);
      StepHash step = StepHash.last(namespace, StepHash.of(namespace, recorded), length / STEP);
      prefixCache.store(this, step, recorded, length, owner, cache);
    }
  }

  /**
   * A prefix of a text in memory.
   *
   * @param key hash of its whole steps; tokens of another step may follow
   */
  public record CachedPrefix(StepHash key, String owner, int[] tokens, KvCache cache) {
    /**
     * Returns how many tokens of a text it serves; 0 if the texts differ before the end of the
     * key's steps.
     */
    int matchLength(int[] text) {
      int mismatch = Arrays.mismatch(tokens, text);
      int common = mismatch < 0 ? tokens.length : mismatch;
      // The last token is always prefilled, for its logits.
      int served = Math.min(common, text.length - 1);
      int retained = served < key.length() ? 0 : cache.retainable(served);
      return retained < key.length() ? 0 : retained;
    }

    boolean matches(int[] text, int length) {
      return tokens.length == length && Arrays.equals(tokens, 0, length, text, 0, length);
    }

    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(this);
    }
  }
}
