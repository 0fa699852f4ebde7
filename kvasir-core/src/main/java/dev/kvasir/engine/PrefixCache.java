package dev.kvasir.engine;

import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.KvCache;
import dev.kvasir.memory.MemoryPool;
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
 * Beginnings of texts that sequences have read, kept so that others need not read them again. What
 * is kept is a fork of the sequence as it was: pages are shared and counted once.
 *
 * <p>A text that begins from here has the bits of one that was read from its first token. So a
 * beginning is kept only where every prompt that begins alike passes through the same state.
 *
 * <pre>
 * text     | 256 | 256 | 256 | 256 | rest | answer |
 *                ^           ^            ^        ^
 *                |           |            |        (b) where the next turn goes on
 *                |           |            (b) where another answer, or one told otherwise, does
 *                |           (a) the last whole step: where the next turn goes on
 *                the last step that another text had in common: where others go on
 * </pre>
 *
 * With most caches that is (a) where a prompt's step ends, at a multiple of {@link
 * Request#PROMPT_STEP} tokens: what is generated is packed elsewhere, and a prompt's tokens attend
 * to packed pages in another way. Where all tokens are packed by their positions alone it is (b)
 * anywhere, and what is kept serves a text that has only a part of it as well, as long as no step
 * ends in between.
 *
 * <p>Between steps the rest of a page is in full precision, which makes a beginning at every step
 * as large as no packing at all; hence two or three of them a text. When memory is needed, those
 * leave first that have not been used for the longest time. Where a budget allows a prompt's steps
 * fewer tokens, nothing is kept.
 */
public final class PrefixCache implements MemoryPool.Reclaimable, AutoCloseable {
  private static final int STEP = Request.PREFILL_STEP;

  /** Steps of texts that are remembered by a hash, to know what texts have in common. */
  private static final int STEPS_REMEMBERED = 1 << 16;

  /**
   * What must be alike beside tokens; the model and its profile are, since the engine is.
   *
   * @param spec the kind of cache, as typed
   * @param contextLimit that some budgets depend on
   * @param tenant whose texts they are: what one has read is of no use to another, who could tell
   *     from the time that it takes
   */
  public record PrefixNamespace(String spec, int contextLimit, String tenant) {
    private boolean isOf(String other) {
      return tenant.equals(other);
    }
  }

  /**
   * What has happened so far.
   *
   * @param queries texts that were begun
   * @param hits those of them that something was known of
   * @param tokens that were not read again
   * @param farHits of the hits, those that were found far away
   * @param evictions beginnings that left because memory was needed
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
   * One beginning, as others see it.
   *
   * @param owner whoever read it, as it was told; null where several texts have it in common
   */
  public record PrefixInfo(String owner, PrefixNamespace namespace, int tokens, KvCache cache) {}

  private final MemoryPool pool;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<StepHash, List<CachedPrefix>> byHash = new HashMap<>();
  private final Set<CachedPrefix> byUse = new LinkedHashSet<>(); // the longest unused first
  private final Set<StepHash> stepsSeen = new LinkedHashSet<>(); // the oldest first
  private final Set<PrefixRecorder> recorders = Collections.newSetFromMap(new WeakHashMap<>());
  private CachedPrefix forking; // not to be evicted for the memory that its fork takes
  private PrefixStats stats = new PrefixStats(0, 0, 0, 0, 0);
  private volatile RemotePrefixCache remote; // null where nothing outlives memory
  private boolean closed;

  /**
   * @param pool that keys and values are taken from, which asks for memory when it has none left
   */
  public PrefixCache(MemoryPool pool) {
    this.pool = pool;
    pool.register(this);
  }

  /**
   * Begins a text with the most that is known of it.
   *
   * @param owner by whom what it leaves here is told apart; may be null
   * @param fresh makes the cache of a text of which nothing is known
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
      recorder = new PrefixRecorder(this, namespace, steps, text, owner, recordSteps(steps));
      recorders.add(recorder);
      source = longestMatch(namespace, steps, text);
      known = source == null ? null : fork(source, source.matchLength(text));
    } finally {
      lock.unlock();
    }
    // Outside the lock: to look far away takes its time, and a first cache of its kind may wait for
    // tables that another is making.
    Optional<KvCache> found = findRemote(namespace, text, known == null ? 0 : known.length());
    KvCache most = found.orElse(known);
    count(most == null ? 0 : most.length(), found.isPresent());
    if (most == null) {
      return new Prefix(newCache.get(), null, recorder);
    }
    if (found.isPresent()) {
      closeIfAny(known);
      return new Prefix(most, recorder.recordLocally(most), recorder);
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
   * From now on, beginnings that are not at hand are looked for there, and new ones kept there.
   *
   * @param elsewhere null for nowhere
   */
  public void setRemote(RemotePrefixCache remoteCache) {
    remote = remoteCache;
  }

  /** Whether to begin may take memory for what comes from elsewhere. */
  public boolean hasRemote() {
    return remote != null;
  }

  /** Learns how long it took to read tokens of a prompt. */
  public void recordPrefill(int tokens, long nanos) {
    RemotePrefixCache remoteCache = remote;
    if (remoteCache != null && tokens > 0) {
      remoteCache.recordPrefill(tokens, nanos);
    }
  }

  /** Remembers a text's steps; answers the tokens that it has in common with an earlier one. */
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
    CachedPrefix longest = null;
    int most = 0;
    for (CachedPrefix entry : byHash.getOrDefault(step, List.of())) {
      int serves = entry.matchLength(text);
      if (serves > most) {
        most = serves;
        longest = entry;
      }
    }
    return longest;
  }

  private boolean contains(StepHash step, int[] text, int length) {
    return byHash.getOrDefault(step, List.of()).stream()
        .anyMatch(entry -> entry.matches(text, length));
  }

  /** Null where there is no memory for even that: the text is read from its beginning then. */
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

  /** Keeps a beginning that is being read, if nobody has and there is memory for it. */
  private void store(
      PrefixRecorder recorder, StepHash step, int[] text, int length, String owner, KvCache cache) {
    if (storeLocally(recorder, step, text, length, owner, cache) != null && remote != null) {
      KvCache fork = forkOf(cache);
      if (fork != null) {
        // What others have in common with it can be found in what it has said all the same.
        remote.store(step.namespace(), text, recorder.owner, fork);
      }
    }
  }

  /** Answers null where it need not or cannot be kept. */
  private CachedPrefix storeLocally(
      PrefixRecorder recorder, StepHash step, int[] text, int length, String owner, KvCache cache) {
    lock.lock();
    try {
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
   * Forgets what an owner's texts left here, but for what they have in common with others, and all
   * that they left far away. Texts that are being read now leave nothing more.
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

  /** Forgets everything; texts that began from here are not touched. */
  public void clear() {
    lock.lock();
    try {
      removeWhere(entry -> true, Long.MAX_VALUE);
    } finally {
      lock.unlock();
    }
  }

  /** Lets beginnings go, the longest unused first, before anybody's pages become narrower. */
  @Override
  public void reclaim(int level, long bytes) {
    // Nobody who holds the lock waits for what the caller may hold: forks take memory, no locks.
    lock.lock();
    try {
      stats = stats.withEvictions(removeWhere(entry -> entry != forking, bytes));
    } finally {
      lock.unlock();
    }
  }

  /** Answers how many left. */
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

  /** Tells what is kept, the longest unused first, while none of it can leave. */
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

  /** What a text that is being read will leave for others: three places of it at the most. */
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

    /** Told whenever a whole step of the prompt has been read and packed. */
    void prefillStepDone(KvCache cache, int stepEnd, boolean recordsLast) {
      StepHash step = steps[stepEnd / STEP - 1];
      if (stepEnd == common) {
        prefixCache.store(this, step, text, stepEnd, null, cache);
      } else if (recordsLast && stepEnd == steps.length * STEP) {
        prefixCache.store(this, step, text, stepEnd, owner, cache);
      }
    }

    /** Told of a beginning that came from far away: others begin from what this answers. */
    Object recordLocally(KvCache cache) {
      int length = cache.length();
      return prefixCache.storeLocally(
          this, StepHash.last(namespace, steps, length / STEP), text, length, owner, cache);
    }

    /** Told of a place that may lie anywhere. */
    void record(KvCache cache, int[] tokens, int length) {
      int[] held = Arrays.copyOf(tokens, length);
      StepHash step = StepHash.last(namespace, StepHash.of(namespace, held), length / STEP);
      prefixCache.store(this, step, held, length, owner, cache);
    }
  }
}
