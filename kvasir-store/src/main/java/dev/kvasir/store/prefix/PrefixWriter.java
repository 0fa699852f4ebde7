package dev.kvasir.store.prefix;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.engine.Request;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.ProtectedMappings;
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
 * Serializes prefixes to blobs on its own thread. A record is written after its blocks, so a reader
 * that finds it finds them too. Queued prefixes hold cache memory without a reservation; the queue
 * is therefore short, and jobs are dropped when a session needs the memory. Thread-safe.
 */
final class PrefixWriter implements MemoryPool.Reclaimable {
  private static final int MAX_QUEUED = 8;

  /** Capacity waits for each block; between them the writer checks for cancellation. */
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
  private boolean holdsCache; // whether the current job's cache is open
  private volatile boolean isCancelled; // the current job
  private boolean isClosed;

  /** A queued job; jobs run in order. */
  private sealed interface Job {
    default boolean holdsMemory() {
      return this instanceof WriteJob;
    }
  }

  /**
   * A prefix to write; its cache is always closed in the end.
   *
   * @param mappingFaults failed reads of mapped files before it was computed
   */
  private record WriteJob(
      Identity identity, int limit, int[] tokens, String owner, KvCache cache, long mappingFaults)
      implements Job {}

  private record DeleteJob(String tenant, String owner) implements Job {}

  /**
   * @param pool that the caches of prefixes are allocated from
   * @param listener notified for each prefix, with whether it was handed to the tiers
   */
  PrefixWriter(TieredStore store, MemoryPool pool, Consumer<Boolean> listener) {
    this.store = store;
    this.pool = pool;
    this.ownerIndex = new OwnerIndex(store);
    this.writtenBlocks = new WrittenBlocks(store);
    this.listener = listener;
    pool.register(this);
    thread = Thread.ofPlatform().daemon().name("kvasir-prefixes").start(this::work);
  }

  static BlobName blockName(String hex) {
    return BlobName.block(HexFormat.of().parseHex(hex));
  }

  /**
   * Queues a prefix.
   *
   * @param text may be longer than the cache
   * @param owner to delete it by; may be null
   */
  void write(Identity identity, int limit, int[] text, String owner, KvCache cache) {
    int[] tokens = Arrays.copyOf(text, cache.length());
    WriteJob writeJob =
        new WriteJob(identity, limit, tokens, owner, cache, ProtectedMappings.faults());
    if (!add(writeJob)) {
      drop(writeJob);
    }
  }

  /** Deletes the blobs of an owner, after the pending jobs. */
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
        // For example, no heap for a list of names. Without this thread nothing would be stored
        // again.
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
   * Deletes an owner's blobs. Blocks may remain visible for a while, so no block counts as written
   * afterwards.
   */
  private void delete(DeleteJob deleteJob) {
    ownerIndex.delete(deleteJob.tenant(), deleteJob.owner());
    writtenBlocks.clear();
  }

  /** Waits for the next job and returns it; null once closed. */
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
      // Cancelled, or too large to hold twice: the prefix is not stored.
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
            identity.cacheSpec(),
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
    // Earlier blocks are shared by more texts and must be evicted last.
    store.touch(names);
    return names;
  }

  /** Writes the blocks except those that all tiers already contain. */
  private List<String> writeBlocks(WriteJob writeJob, CacheSnapshot snapshot) {
    Identity identity = writeJob.identity();
    int[] tokens = writeJob.tokens();
    SequenceBlocks.BlockSink writer = (name, block) -> writeBlock(writeJob, name, block);
    if (!snapshot.hasImmutableBlocks() || !Request.quantizesByPosition(writeJob.cache(), false)) {
      return SequenceBlocks.write(identity, tokens, snapshot, List.of(), writer);
    }
    List<String> existing = writtenBlocks.leadingBlocks(identity, tokens, snapshot);
    // Renew their age, so that the following writes do not evict them.
    store.touch(existing.stream().map(PrefixWriter::blockName).toList());
    List<String> blocks = SequenceBlocks.write(identity, tokens, snapshot, existing, writer);
    writtenBlocks.add(identity, tokens, snapshot, blocks);
    return blocks;
  }

  /** Writes a block. A prefix may exceed the write queue; then this waits briefly for the disk. */
  private void writeBlock(WriteJob writeJob, String name, byte[] block) {
    for (int i = 0; i < CAPACITY_WAITS && !isCancelled; i++) {
      store.awaitCapacity(block.length, CAPACITY_WAIT);
    }
    if (isCancelled) {
      throw new CancellationException("its memory is needed");
    }
    if (ProtectedMappings.faults() != writeJob.mappingFaults()) {
      throw new CancellationException("zeros may have been read in place of its pages");
    }
    store.write(blockName(name), block);
  }

  /** Wakes threads that wait for the memory of the current job. */
  private synchronized void signalCacheReleased() {
    holdsCache = false;
    notifyAll();
  }

  /** Drops queued jobs, newest first, then cancels the current one at the end of its block. */
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
      isCancelled = true; // it may have started another job
    }
  }

  /**
   * Waits until all jobs have been handed to the tiers, for at most {@code time}; drops the rest.
   */
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

  /** Waits for a notification; returns false if interrupted. */
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
