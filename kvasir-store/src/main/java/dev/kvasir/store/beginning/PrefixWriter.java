package dev.kvasir.store.beginning;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.engine.Request;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.store.TieredStore;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.SequenceBlocks;
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
final class PrefixWriter implements MemoryPool.Reclaimable {
  private static final int MAX_QUEUED = 8;

  /** Of each block, between which is looked whether its memory is needed. */
  private static final int CAPACITY_WAITS = 20;

  private static final Duration CAPACITY_WAIT = Duration.ofMillis(50);

  private final TieredStore store;
  private final MemoryPool pool;
  private final OwnerIndex ownerIndex;
  private final WrittenBlocks writtenBlocks;
  private final Consumer<Boolean> listener;
  private final Deque<Job> jobs = new ArrayDeque<>();
  private final Thread thread;
  private boolean isBusy;
  private boolean holdsCache; // the cache of what is being written
  private volatile boolean isCancelled; // what is being written
  private boolean isClosed;

  /** Something to do in the order in which it was asked for. */
  private sealed interface Job {
    default boolean holdsMemory() {
      return this instanceof WriteJob;
    }
  }

  /** A beginning that waits; its cache is closed in any case. */
  private record WriteJob(Identity identity, int limit, int[] tokens, String owner, KvCache cache)
      implements Job {}

  private record DeleteJob(String tenant, String owner) implements Job {}

  /**
   * @param pool that the caches of beginnings are taken from
   * @param listener told of each beginning whether it was given to the tiers
   */
  PrefixWriter(TieredStore store, MemoryPool pool, Consumer<Boolean> listener) {
    this.store = store;
    this.pool = pool;
    this.ownerIndex = new OwnerIndex(store);
    this.writtenBlocks = new WrittenBlocks(store);
    this.listener = listener;
    pool.register(this);
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
    WriteJob writeJob = new WriteJob(identity, limit, tokens, owner, cache);
    if (!add(writeJob)) {
      drop(writeJob);
    }
  }

  /** Removes what was stored for an owner, after what waits. */
  void delete(String tenant, String owner) {
    add(new DeleteJob(tenant, owner));
  }

  private synchronized boolean add(Job job) {
    boolean isFull = jobs.stream().filter(Job::holdsMemory).count() >= MAX_QUEUED;
    if (isClosed || job.holdsMemory() && isFull) {
      return false;
    }
    jobs.add(job);
    notifyAll();
    return true;
  }

  private void drop(WriteJob writeJob) {
    writeJob.cache().close();
    listener.accept(false);
  }

  private void work() {
    for (Job job = next(); job != null; job = next()) {
      try {
        run(job);
      } catch (RuntimeException | Error e) {
        // Say, no heap for a list of names: without this thread nothing would ever be stored again.
        signalCacheReleased();
      }
    }
  }

  private void run(Job job) {
    switch (job) {
      case WriteJob writeJob -> write(writeJob);
      case DeleteJob deleteJob -> delete(deleteJob);
    }
  }

  /**
   * Blocks that are about to go may be there a while longer: nothing counts as written any more.
   */
  private void delete(DeleteJob deleteJob) {
    ownerIndex.delete(deleteJob.tenant(), deleteJob.owner());
    writtenBlocks.clear();
  }

  /** Waits for one; null at the end. */
  private synchronized Job next() {
    isBusy = false;
    notifyAll();
    while (jobs.isEmpty() && !isClosed) {
      if (!awaitSignal(0)) {
        return null;
      }
    }
    Job job = jobs.poll();
    isBusy = job != null;
    holdsCache = job instanceof WriteJob;
    isCancelled = false;
    return job;
  }

  private void write(WriteJob writeJob) {
    List<BlobName> names = new ArrayList<>();
    boolean isWritten = false;
    try {
      writeJob.cache().pin();
      try {
        names.addAll(write(writeJob, writeJob.cache().snapshot()));
        isWritten = true;
      } finally {
        writeJob.cache().unpin();
      }
    } catch (RuntimeException | OutOfMemoryError e) {
      // Given up, or too large to be held twice: it is as if nobody had asked for it.
      isWritten = false;
    }
    writeJob.cache().close();
    listener.accept(isWritten);
    signalCacheReleased();
    if (isWritten && writeJob.owner() != null) {
      ownerIndex.add(writeJob.identity().tenant(), writeJob.owner(), names);
    }
  }

  private List<BlobName> write(WriteJob writeJob, CacheSnapshot snapshot) {
    Identity identity = writeJob.identity();
    int[] tokens = writeJob.tokens();
    List<String> blocks = writeBlocks(writeJob, snapshot);
    StoredSequence sequence =
        new StoredSequence(
            identity,
            identity.spec(),
            writeJob.limit(),
            false,
            Instant.now(),
            tokens,
            snapshot.length(),
            blocks,
            Snapshot.of(snapshot.residual()));
    BlobName record = PrefixKeys.last(identity, tokens, tokens.length);
    store.write(record, sequence.toBytes());
    List<BlobName> names =
        Stream.concat(blocks.stream().map(PrefixWriter::blockName), Stream.of(record)).toList();
    // What was written first is not what should leave first: it serves the most texts.
    store.touch(names);
    return names;
  }

  /** Those that were written before and are there still are left out. */
  private List<String> writeBlocks(WriteJob writeJob, CacheSnapshot snapshot) {
    Identity identity = writeJob.identity();
    int[] tokens = writeJob.tokens();
    if (!snapshot.hasImmutableBlocks() || !Request.quantizesByPosition(writeJob.cache(), false)) {
      return SequenceBlocks.write(identity, tokens, snapshot, List.of(), this::writeBlock);
    }
    List<String> existing = writtenBlocks.leadingBlocks(identity, tokens, snapshot);
    // Or what is to be written would push out what it goes on from.
    store.touch(existing.stream().map(PrefixWriter::blockName).toList());
    List<String> blocks =
        SequenceBlocks.write(identity, tokens, snapshot, existing, this::writeBlock);
    writtenBlocks.add(identity, tokens, snapshot, blocks);
    return blocks;
  }

  /** A beginning may be larger than what may wait: then a disk is waited for, if not for long. */
  private void writeBlock(String name, byte[] block) {
    for (int i = 0; i < CAPACITY_WAITS && !isCancelled; i++) {
      store.awaitCapacity(block.length, CAPACITY_WAIT);
    }
    if (isCancelled) {
      throw new CancellationException("its memory is needed");
    }
    store.write(blockName(name), block);
  }

  /** Whoever waits for memory need not wait for what follows. */
  private synchronized void signalCacheReleased() {
    holdsCache = false;
    notifyAll();
  }

  /** Gives up what waits, the newest first, then what is being written, at the end of its block. */
  @Override
  public synchronized void reclaim(int level, long bytes) {
    long before = pool.usedBytes();
    for (Job job : List.copyOf(jobs.reversed())) {
      if (before - pool.usedBytes() < bytes && job instanceof WriteJob writeJob) {
        jobs.remove(job);
        drop(writeJob);
      }
    }
    if (before - pool.usedBytes() < bytes) {
      cancelRunning();
    }
  }

  private void cancelRunning() {
    isCancelled = true;
    boolean isOther = Thread.currentThread() != thread;
    while (holdsCache && isOther && awaitSignal(0)) {
      isCancelled = true; // it may have gone on with another
    }
  }

  /** Waits until all that was asked for has been given to the tiers, or so long; drops the rest. */
  synchronized boolean finish(Duration time) {
    isClosed = true;
    notifyAll();
    long end = System.nanoTime() + time.toNanos();
    long millis = time.toMillis();
    while ((isBusy || !jobs.isEmpty()) && millis > 0 && awaitSignal(millis)) {
      millis = Math.ceilDiv(end - System.nanoTime(), 1_000_000L);
    }
    boolean isDone = !isBusy && jobs.isEmpty();
    this.reclaim(0, Long.MAX_VALUE);
    pool.unregister(this);
    return isDone;
  }

  /** Whether it was woken, and not interrupted. */
  private boolean awaitSignal(long millis) {
    try {
      wait(millis);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
