package dev.kvasir.store.beginning;

import dev.kvasir.cache.CacheForm;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.Form;
import dev.kvasir.engine.Sequence;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.store.TieredBlobs;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.stored.Blocks;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.StoredSequence;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Makes blobs of beginnings on a thread of its own. The record comes after its blocks: whoever
 * finds it finds them. What waits holds memory that sessions could use, so few may, and they are
 * given up when somebody needs it: who was let in was promised memory, and these were not.
 */
final class BeginningWriter implements MemoryPool.Yielding {
  private static final int MOST_WAITING = 8;

  /** Of each block, between which is looked whether its memory is needed. */
  private static final int WAITS_FOR_ROOM = 20;

  private static final Duration WAIT_FOR_ROOM = Duration.ofMillis(50);

  private final TieredBlobs blobs;
  private final MemoryPool pool;
  private final OwnedBlobs owned;
  private final KnownBlocks known;
  private final Consumer<Boolean> listener;
  private final Deque<Job> jobs = new ArrayDeque<>();
  private final Thread thread;
  private boolean isBusy;
  private boolean isHolding; // the cache of what is being written
  private volatile boolean isGivenUp; // what is being written
  private boolean isClosed;

  /** Something to do in the order in which it was asked for. */
  private sealed interface Job {
    default boolean holdsMemory() {
      return this instanceof Writing;
    }
  }

  /** A beginning that waits; its cache is closed in any case. */
  private record Writing(Identity identity, int limit, int[] tokens, String owner, KvCache cache)
      implements Job {}

  private record Forgetting(String tenant, String owner) implements Job {}

  /**
   * @param pool that the caches of beginnings are taken from
   * @param listener told of each beginning whether it was given to the tiers
   */
  BeginningWriter(TieredBlobs blobs, MemoryPool pool, Consumer<Boolean> listener) {
    this.blobs = blobs;
    this.pool = pool;
    this.owned = new OwnedBlobs(blobs);
    this.known = new KnownBlocks(blobs);
    this.listener = listener;
    pool.join(this);
    thread = Thread.ofPlatform().daemon().name("kvasir-beginnings").start(this::work);
  }

  static BlobName blockName(String hex) {
    return BlobName.block(HexFormat.of().parseHex(hex));
  }

  /**
   * @param text may be longer than what the cache holds of it
   * @param owner by whom it can be forgotten; may be null
   */
  void write(Identity identity, int limit, int[] text, String owner, KvCache cache) {
    int[] tokens = Arrays.copyOf(text, cache.length());
    Writing writing = new Writing(identity, limit, tokens, owner, cache);
    if (!add(writing)) {
      drop(writing);
    }
  }

  /** Removes what was stored for an owner, after what waits. */
  void forget(String tenant, String owner) {
    add(new Forgetting(tenant, owner));
  }

  private synchronized boolean add(Job job) {
    boolean isFull = jobs.stream().filter(Job::holdsMemory).count() >= MOST_WAITING;
    if (isClosed || job.holdsMemory() && isFull) {
      return false;
    }
    jobs.add(job);
    notifyAll();
    return true;
  }

  private void drop(Writing writing) {
    writing.cache().close();
    listener.accept(false);
  }

  private void work() {
    for (Job job = next(); job != null; job = next()) {
      try {
        run(job);
      } catch (RuntimeException | Error e) {
        // Say, no heap for a list of names: without this thread nothing would ever be stored again.
        hasLetGo();
      }
    }
  }

  private void run(Job job) {
    switch (job) {
      case Writing writing -> write(writing);
      case Forgetting forgetting -> forget(forgetting);
    }
  }

  /**
   * Blocks that are about to go may be there a while longer: nothing counts as written any more.
   */
  private void forget(Forgetting forgetting) {
    owned.forget(forgetting.tenant(), forgetting.owner());
    known.forgetAll();
  }

  /** Waits for one; null at the end. */
  private synchronized Job next() {
    isBusy = false;
    notifyAll();
    while (jobs.isEmpty() && !isClosed) {
      if (!waits(0)) {
        return null;
      }
    }
    Job job = jobs.poll();
    isBusy = job != null;
    isHolding = job instanceof Writing;
    isGivenUp = false;
    return job;
  }

  private void write(Writing writing) {
    List<BlobName> names = new ArrayList<>();
    boolean isWritten = false;
    try {
      writing.cache().enter();
      try {
        names.addAll(write(writing, writing.cache().form()));
        isWritten = true;
      } finally {
        writing.cache().leave();
      }
    } catch (RuntimeException | OutOfMemoryError e) {
      // Given up, or too large to be held twice: it is as if nobody had asked for it.
      isWritten = false;
    }
    writing.cache().close();
    listener.accept(isWritten);
    hasLetGo();
    if (isWritten && writing.owner() != null) {
      owned.add(writing.identity().tenant(), writing.owner(), names);
    }
  }

  private List<BlobName> write(Writing writing, CacheForm form) {
    Identity identity = writing.identity();
    int[] tokens = writing.tokens();
    List<String> blocks = writeBlocks(writing, form);
    StoredSequence sequence =
        new StoredSequence(
            identity,
            identity.spec(),
            writing.limit(),
            false,
            Instant.now(),
            tokens,
            form.length(),
            blocks,
            Form.of(form.rest()));
    BlobName record = StepKeys.last(identity, tokens, tokens.length);
    blobs.write(record, sequence.form());
    List<BlobName> names =
        Stream.concat(blocks.stream().map(BeginningWriter::blockName), Stream.of(record)).toList();
    // What was written first is not what should leave first: it serves the most texts.
    blobs.used(names);
    return names;
  }

  /** Those that were written before and are there still are left out. */
  private List<String> writeBlocks(Writing writing, CacheForm form) {
    Identity identity = writing.identity();
    int[] tokens = writing.tokens();
    if (!form.hasLastingBlocks() || !Sequence.isPackedByPosition(writing.cache(), false)) {
      return Blocks.write(identity, tokens, form, List.of(), this::writeBlock);
    }
    List<String> there = known.first(identity, tokens, form);
    // Or what is to be written would push out what it goes on from.
    blobs.used(there.stream().map(BeginningWriter::blockName).toList());
    List<String> blocks = Blocks.write(identity, tokens, form, there, this::writeBlock);
    known.add(identity, tokens, form, blocks);
    return blocks;
  }

  /** A beginning may be larger than what may wait: then a disk is waited for, if not for long. */
  private void writeBlock(String name, byte[] block) {
    for (int i = 0; i < WAITS_FOR_ROOM && !isGivenUp; i++) {
      blobs.awaitRoom(block.length, WAIT_FOR_ROOM);
    }
    if (isGivenUp) {
      throw new CancellationException("its memory is needed");
    }
    blobs.write(blockName(name), block);
  }

  /** Whoever waits for memory need not wait for what follows. */
  private synchronized void hasLetGo() {
    isHolding = false;
    notifyAll();
  }

  /** Gives up what waits, the newest first, then what is being written, at the end of its block. */
  @Override
  public synchronized void yield(int level, long bytes) {
    long before = pool.taken();
    for (Job job : List.copyOf(jobs.reversed())) {
      if (before - pool.taken() < bytes && job instanceof Writing writing) {
        jobs.remove(job);
        drop(writing);
      }
    }
    if (before - pool.taken() < bytes) {
      giveUpRunning();
    }
  }

  private void giveUpRunning() {
    isGivenUp = true;
    boolean isOther = Thread.currentThread() != thread;
    while (isHolding && isOther && waits(0)) {
      isGivenUp = true; // it may have gone on with another
    }
  }

  /** Waits until all that was asked for has been given to the tiers, or so long; drops the rest. */
  synchronized boolean finish(Duration time) {
    isClosed = true;
    notifyAll();
    long end = System.nanoTime() + time.toNanos();
    long millis = time.toMillis();
    while ((isBusy || !jobs.isEmpty()) && millis > 0 && waits(millis)) {
      millis = Math.ceilDiv(end - System.nanoTime(), 1_000_000L);
    }
    boolean isDone = !isBusy && jobs.isEmpty();
    this.yield(0, Long.MAX_VALUE);
    pool.leave(this);
    return isDone;
  }

  /** Whether it was woken, and not interrupted. */
  private boolean waits(long millis) {
    try {
      wait(millis);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
