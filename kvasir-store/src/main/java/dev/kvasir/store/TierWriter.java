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
  private record Job(Runnable work, long bytes, int blobs) {}

  private final BlobTier tier;
  private final long limit;
  private final Queue<Job> jobs = new ArrayDeque<>();
  private long waitingBytes;
  private long writtenBytes;
  private long dropped;
  private boolean isBusy;
  private boolean isClosed;

  TierWriter(BlobTier tier, long limit) {
    this.tier = tier;
    this.limit = limit;
    Thread.ofPlatform().daemon().name("kvasir-store-" + tier.name()).start(this::work);
  }

  void write(BlobName name, byte[] bytes) {
    add(new Job(() -> writeNow(name, bytes), bytes.length, 1));
  }

  void used(List<BlobName> names) {
    add(new Job(() -> tier.used(names), names.size() * NAME_BYTES, 0));
  }

  /** After what waits; to be asked for it is never refused for want of room. */
  void forget(List<BlobName> names) {
    add(new Job(() -> names.forEach(tier::forget), 0, 0));
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
    boolean isTooMuch = job.bytes() > 0 && waitingBytes + job.bytes() > limit;
    if (isClosed || !jobs.isEmpty() && isTooMuch) {
      dropped += job.blobs();
      return;
    }
    jobs.add(job);
    waitingBytes += job.bytes();
    notifyAll();
  }

  /** Waits until so many bytes would not be dropped, or so long. */
  synchronized void awaitRoom(long bytes, Duration time) {
    long end = System.nanoTime() + time.toNanos();
    long millis = time.toMillis();
    while (!jobs.isEmpty() && waitingBytes + bytes > limit && millis > 0 && waits(millis)) {
      millis = Math.ceilDiv(end - System.nanoTime(), 1_000_000L);
    }
  }

  private void work() {
    for (Job job = next(); job != null; job = next()) {
      try {
        job.work().run();
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
      if (!waits(0)) {
        return null;
      }
    }
    Job job = jobs.poll();
    isBusy = job != null;
    waitingBytes -= isBusy ? job.bytes() : 0;
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
      if (millis <= 0 || !waits(millis)) {
        return false;
      }
    }
    return true;
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

  /** Takes nothing more, finishes what fits into the time, and drops the rest. */
  void close(Duration time) {
    refuse();
    flush(time);
    dropAll();
  }

  private synchronized void refuse() {
    isClosed = true;
    notifyAll();
  }

  private synchronized void dropAll() {
    jobs.forEach(this::drop);
    jobs.clear();
    waitingBytes = 0;
  }

  synchronized long writtenBytes() {
    return writtenBytes;
  }

  synchronized long dropped() {
    return dropped;
  }
}
