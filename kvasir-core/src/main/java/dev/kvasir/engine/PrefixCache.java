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
 * Sequence#PROMPT_STEP} tokens: what is generated is packed elsewhere, and a prompt's tokens attend
 * to packed pages in another way. Where all tokens are packed by their positions alone it is (b)
 * anywhere, and what is kept serves a text that has only a part of it as well, as long as no step
 * ends in between.
 *
 * <p>Between steps the rest of a page is in full precision, which makes a beginning at every step
 * as large as no packing at all; hence two or three of them a text. When memory is needed, those
 * leave first that have not been used for the longest time. Where a budget allows a prompt's steps
 * fewer tokens, nothing is kept.
 */
public final class PrefixCache implements MemoryPool.Yielding, AutoCloseable {
  private static final int STEP = Sequence.PROMPT_STEP;

  /** Where the chain of hashes begins. */
  private static final long NO_STEPS = 1;

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
  public record Kind(String spec, int contextLimit, String tenant) {}

  /**
   * What has happened so far.
   *
   * @param queries texts that were begun
   * @param hits those of them that something was known of
   * @param tokens that were not read again
   * @param farHits of the hits, those that were found far away
   * @param evictions beginnings that left because memory was needed
   */
  public record Counts(long queries, long hits, long tokens, long farHits, long evictions) {
    private Counts withQuery(int known, boolean far) {
      return new Counts(
          queries + 1,
          hits + (known > 0 ? 1 : 0),
          tokens + known,
          farHits + (far ? 1 : 0),
          evictions);
    }

    private Counts withEvictions(int gone) {
      return new Counts(queries, hits, tokens, farHits, evictions + gone);
    }
  }

  /**
   * One beginning, as others see it.
   *
   * @param owner whoever read it, as it was told; null where several texts have it in common
   */
  public record Kept(String owner, String spec, int tokens, KvCache cache) {}

  private final MemoryPool pool;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<StepHash, List<Entry>> byHash = new HashMap<>();
  private final Set<Entry> byUse = new LinkedHashSet<>(); // the longest unused first
  private final Set<StepHash> stepsSeen = new LinkedHashSet<>(); // the oldest first
  private final Set<Leaving> reading = Collections.newSetFromMap(new WeakHashMap<>());
  private Entry forking; // not to be evicted for the memory that its fork takes
  private Counts counts = new Counts(0, 0, 0, 0, 0);
  private volatile FarBeginnings far; // null where nothing outlives memory
  private boolean closed;

  /** Where a text's hash stands after a whole number of steps: a hint, never a proof. */
  private record StepHash(Kind kind, int length, long hash) {}

  /**
   * @param key of the whole steps that it holds; tokens of a further one may follow
   */
  private record Entry(StepHash key, String owner, int[] tokens, KvCache cache) {
    /** How far it serves a text: not at all where they part before the key's steps end. */
    int serves(int[] text) {
      int mismatch = Arrays.mismatch(tokens, text);
      int common = mismatch < 0 ? tokens.length : mismatch;
      // The last token is read in any case, for its logits.
      int served = Math.min(common, text.length - 1);
      return served < key.length() ? 0 : served;
    }

    boolean isOf(int[] text, int length) {
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

  /**
   * @param pool that keys and values are taken from, which asks for memory when it has none left
   */
  public PrefixCache(MemoryPool pool) {
    this.pool = pool;
    pool.join(this);
  }

  /**
   * Begins a text with the most that is known of it.
   *
   * @param owner by whom what it leaves here is told apart; may be null
   * @param fresh makes the cache of a text of which nothing is known
   */
  public Beginning begin(Kind kind, int[] text, String owner, Supplier<KvCache> fresh) {
    StepHash[] steps = steps(kind, text);
    Entry source;
    KvCache known;
    Leaving leaving;
    lock.lock();
    try {
      checkOpen();
      leaving = new Leaving(this, kind, steps, text, owner, noteSteps(steps));
      reading.add(leaving);
      source = longest(kind, steps, text);
      known = source == null ? null : fork(source, source.serves(text));
    } finally {
      lock.unlock();
    }
    // Outside the lock: to look far away takes its time, and a first cache of its kind may wait for
    // tables that another is making.
    Optional<KvCache> found = findFar(kind, text, known == null ? 0 : known.length());
    KvCache most = found.orElse(known);
    count(most == null ? 0 : most.length(), found.isPresent());
    if (most == null) {
      return new Beginning(fresh.get(), null, leaving);
    }
    if (found.isPresent()) {
      closeIfAny(known);
      return new Beginning(most, leaving.leaveNear(most), leaving);
    }
    return new Beginning(known, source, leaving);
  }

  private Optional<KvCache> findFar(Kind kind, int[] text, int known) {
    FarBeginnings asked = far;
    return asked == null ? Optional.empty() : asked.find(kind, text, known);
  }

  private static void closeIfAny(KvCache cache) {
    if (cache != null) {
      cache.close();
    }
  }

  private void count(int known, boolean isFar) {
    lock.lock();
    try {
      counts = counts.withQuery(known, isFar);
    } finally {
      lock.unlock();
    }
  }

  /** From now on, beginnings that are not at hand are looked for there, and new ones kept there. */
  public void keepIn(FarBeginnings elsewhere) {
    far = elsewhere;
  }

  /** Learns how long it took to read tokens of a prompt. */
  public void read(int tokens, long nanos) {
    FarBeginnings told = far;
    if (told != null && tokens > 0) {
      told.read(tokens, nanos);
    }
  }

  /** A chain: the hash after a step is over all tokens before it. */
  private static StepHash[] steps(Kind kind, int[] text) {
    StepHash[] steps = new StepHash[text.length / STEP];
    long hash = NO_STEPS;
    for (int step = 0; step < steps.length; step++) {
      for (int i = step * STEP; i < (step + 1) * STEP; i++) {
        hash = (hash ^ text[i]) * 0x9E3779B97F4A7C15L;
        hash ^= hash >>> 32;
      }
      steps[step] = new StepHash(kind, (step + 1) * STEP, hash);
    }
    return steps;
  }

  /** Remembers a text's steps; answers the tokens that it has in common with an earlier one. */
  private int noteSteps(StepHash[] steps) {
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

  /** The hash after the last of some steps. */
  private static StepHash last(Kind kind, StepHash[] steps, int count) {
    return count == 0 ? new StepHash(kind, 0, NO_STEPS) : steps[count - 1];
  }

  private Entry longest(Kind kind, StepHash[] steps, int[] text) {
    for (int count = steps.length; count >= 0; count--) {
      Entry entry = longest(last(kind, steps, count), text);
      if (entry != null) {
        byUse.remove(entry);
        byUse.add(entry);
        return entry;
      }
    }
    return null;
  }

  private Entry longest(StepHash step, int[] text) {
    Entry longest = null;
    int most = 0;
    for (Entry entry : byHash.getOrDefault(step, List.of())) {
      int serves = entry.serves(text);
      if (serves > most) {
        most = serves;
        longest = entry;
      }
    }
    return longest;
  }

  private boolean holds(StepHash step, int[] text, int length) {
    return byHash.getOrDefault(step, List.of()).stream()
        .anyMatch(entry -> entry.isOf(text, length));
  }

  /** Null where there is no memory for even that: the text is read from its beginning then. */
  private KvCache fork(Entry entry, int length) {
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
    cache.enter();
    try {
      return cache.fork();
    } catch (CacheFullException e) {
      return null;
    } finally {
      cache.leave();
    }
  }

  /** Keeps a beginning that is being read, if nobody has and there is memory for it. */
  private void keep(
      Leaving leaving, StepHash step, int[] text, int length, String owner, KvCache cache) {
    if (keepNear(leaving, step, text, length, owner, cache) != null && far != null) {
      KvCache fork = forkOf(cache);
      if (fork != null) {
        far.keep(step.kind(), text, fork);
      }
    }
  }

  /** Answers null where it need not or cannot be kept. */
  private Entry keepNear(
      Leaving leaving, StepHash step, int[] text, int length, String owner, KvCache cache) {
    lock.lock();
    try {
      if (closed || !reading.contains(leaving) || holds(step, text, length)) {
        return null;
      }
      KvCache fork = forkOf(cache);
      if (fork == null) {
        return null;
      }
      Entry entry = new Entry(step, owner, Arrays.copyOf(text, length), fork);
      byHash.computeIfAbsent(step, any -> new ArrayList<>()).add(entry);
      byUse.add(entry);
      return entry;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Forgets what an owner's texts left here, but for what they have in common with others. Texts
   * that are being read now leave nothing more.
   */
  public void forget(String owner) {
    lock.lock();
    try {
      reading.removeIf(leaving -> owner.equals(leaving.owner));
      removeWhere(entry -> owner.equals(entry.owner()), Long.MAX_VALUE);
    } finally {
      lock.unlock();
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
  public void yield(int level, long bytes) {
    // Nobody who holds the lock waits for what the caller may hold: forks take memory, no locks.
    lock.lock();
    try {
      counts = counts.withEvictions(removeWhere(entry -> entry != forking, bytes));
    } finally {
      lock.unlock();
    }
  }

  /** Answers how many left. */
  private int removeWhere(Predicate<Entry> leaves, long bytes) {
    long before = pool.taken();
    int gone = 0;
    for (Iterator<Entry> all = byUse.iterator(); all.hasNext(); ) {
      Entry entry = all.next();
      if (leaves.test(entry) && before - pool.taken() < bytes) {
        all.remove();
        byHash.computeIfPresent(entry.key(), (key, list) -> without(list, entry));
        entry.cache().close();
        gone++;
      }
    }
    return gone;
  }

  private static List<Entry> without(List<Entry> list, Entry entry) {
    list.remove(entry);
    return list.isEmpty() ? null : list;
  }

  public Counts counts() {
    lock.lock();
    try {
      return counts;
    } finally {
      lock.unlock();
    }
  }

  /** Tells what is kept, the longest unused first, while none of it can leave. */
  public void forEach(Consumer<Kept> consumer) {
    lock.lock();
    try {
      for (Entry entry : byUse) {
        consumer.accept(
            new Kept(
                entry.owner(), entry.key().kind().spec(), entry.tokens().length, entry.cache()));
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
    pool.leave(this);
  }

  /** What a text that is being read will leave for others: three places of it at the most. */
  static final class Leaving {
    private final PrefixCache home;
    private final Kind kind;
    private final StepHash[] steps;
    private final int[] text;
    private final String owner;
    private final int common;

    private Leaving(
        PrefixCache home, Kind kind, StepHash[] steps, int[] text, String owner, int common) {
      this.home = home;
      this.kind = kind;
      this.steps = steps;
      this.text = text;
      this.owner = owner;
      this.common = common;
    }

    /** Told whenever a whole step of the prompt has been read and packed. */
    void stepRead(KvCache cache, int stepEnd, boolean leavesLast) {
      StepHash step = steps[stepEnd / STEP - 1];
      if (stepEnd == common) {
        home.keep(this, step, text, stepEnd, null, cache);
      } else if (leavesLast && stepEnd == steps.length * STEP) {
        home.keep(this, step, text, stepEnd, owner, cache);
      }
    }

    /** Told of a beginning that came from far away: others begin from what this answers. */
    Object leaveNear(KvCache cache) {
      int length = cache.length();
      return home.keepNear(this, last(kind, steps, length / STEP), text, length, owner, cache);
    }

    /** Told of a place that may lie anywhere. */
    void leave(KvCache cache, int[] tokens, int length) {
      int[] held = Arrays.copyOf(tokens, length);
      StepHash step = last(kind, steps(kind, held), length / STEP);
      home.keep(this, step, held, length, owner, cache);
    }
  }
}
