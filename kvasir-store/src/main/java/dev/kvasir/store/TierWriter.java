package dev.kvasir.store;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/**
 * Writes to a tier behind the callers' backs, in the order in which they asked. What waits is
 * bounded by its bytes: a blob that finds no room is dropped, since a store that is slow must cost
 * neither time nor memory. Each tier has one of its own, so a slow server delays no disk.
 */
final class TierWriter {
  /** What a name takes in the queue, about. */
  private static final long NAME_BYTES = 200;

  /** One thing to do, and the bytes it holds on to. */
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

  /** After what waits; to be asked for it is never refused for want of room. */
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

  /** A single one may be larger than all that may wait. */
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

  /** Waits until so many bytes would not be dropped, or so long. */
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
        drop(job); // whatever it was, the next one is written
      }
    }
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
    queuedBytes -= isBusy ? job.bytes() : 0;
    return job;
  }

  private synchronized void drop(Job job) {
    dropped += job.blobs();
  }

  /** Waits until all is written that was asked for, or so long; tells which. */
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

  /** Takes nothing more, finishes what fits into the time, and drops the rest. */
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
