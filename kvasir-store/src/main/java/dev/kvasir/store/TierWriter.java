package dev.kvasir.store;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/**
 * Writes to a tier asynchronously, in the order of the calls. The queue is bounded in bytes: a blob
 * that does not fit is dropped, so a slow store costs neither time nor memory. Each tier has its
 * own writer, so a slow server does not delay a disk.
 */
final class TierWriter {
  /** The approximate size of a queued name in bytes. */
  private static final long NAME_BYTES = 200;

  /** A queued task and the memory it holds. */
  private record Job(Runnable task, long bytes, int blobs) {}

  private final BlobTier tier;
  private final long maxQueuedBytes;
  private final Queue<Job> jobs = new ArrayDeque<>();
  private long queuedBytes;
  private long writtenBytes;
  private long dropped;
  private boolean isBusy;
  private boolean isClosed;

  TierWriter(BlobTier tier, long maxQueuedBytes) {
    this.tier = tier;
    this.maxQueuedBytes = maxQueuedBytes;
    Thread.ofPlatform().daemon().name("kvasir-store-" + tier.name()).start(this::work);
  }

  void write(BlobName name, byte[] bytes) {
    add(new Job(() -> writeNow(name, bytes), bytes.length, 1));
  }

  void append(BlobName record, byte[] bytes) {
    add(new Job(() -> appendNow(record, bytes), bytes.length, 1));
  }

  private void appendNow(BlobName record, byte[] bytes) {
    if (tier.append(record, bytes)) {
      countWritten(bytes.length);
    }
  }

  void touch(List<BlobName> names) {
    add(new Job(() -> tier.touch(names), names.size() * NAME_BYTES, 0));
  }

  /**
   * Queues a deletion after the pending writes. Deletions are never dropped for lack of capacity.
   */
  void delete(List<BlobName> names) {
    add(new Job(() -> names.forEach(tier::delete), 0, 0));
  }

  private void writeNow(BlobName name, byte[] bytes) {
    if (tier.write(name, bytes)) {
      countWritten(bytes.length);
    }
  }

  private synchronized void countWritten(long bytes) {
    writtenBytes += bytes;
  }

  /** Queues a job. A single job may be larger than the limit. */
  private synchronized void add(Job job) {
    boolean isTooMuch = job.bytes() > 0 && queuedBytes + job.bytes() > maxQueuedBytes;
    if (isClosed || !jobs.isEmpty() && isTooMuch) {
      dropped += job.blobs();
      return;
    }
    jobs.add(job);
    queuedBytes += job.bytes();
    notifyAll();
  }

  /** Waits until {@code bytes} more would not be dropped, for at most {@code time}. */
  synchronized void awaitCapacity(long bytes, Duration time) {
    long end = System.nanoTime() + time.toNanos();
    long millis = time.toMillis();
    while (!jobs.isEmpty()
        && queuedBytes + bytes > maxQueuedBytes
        && millis > 0
        && awaitSignal(millis)) {
      millis = Math.ceilDiv(end - System.nanoTime(), 1_000_000L);
    }
  }

  private void work() {
    for (Job job = next(); job != null; job = next()) {
      try {
        job.task().run();
      } catch (RuntimeException | Error e) {
        drop(job); // the thread must survive any failure
      }
    }
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
    queuedBytes -= isBusy ? job.bytes() : 0;
    return job;
  }

  private synchronized void drop(Job job) {
    dropped += job.blobs();
  }

  /** Waits until all pending jobs are done, for at most {@code time}; returns whether they are. */
  synchronized boolean flush(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (isBusy || !jobs.isEmpty()) {
      long millis = Math.ceilDiv(end - System.nanoTime(), 1_000_000L);
      if (millis <= 0 || !awaitSignal(millis)) {
        return false;
      }
    }
    return true;
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

  /** Stops accepting jobs, works on the queue for at most {@code time}, and drops the rest. */
  void close(Duration time) {
    stopAccepting();
    flush(time);
    dropAll();
  }

  private synchronized void stopAccepting() {
    isClosed = true;
    notifyAll();
  }

  private synchronized void dropAll() {
    jobs.forEach(this::drop);
    jobs.clear();
    queuedBytes = 0;
  }

  synchronized long writtenBytes() {
    return writtenBytes;
  }

  synchronized long dropped() {
    return dropped;
  }
}
