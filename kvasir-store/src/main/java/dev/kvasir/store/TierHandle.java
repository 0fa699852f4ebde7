package dev.kvasir.store;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.FileMapper;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** A tier with its counters and the thread that writes to it. */
final class TierHandle {
  private final BlobTier tier;
  private final TierWriter writer;
  private final ReadSpeed speed;
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder nanos = new LongAdder();

  TierHandle(BlobTier tier, long maxQueuedBytes) {
    this.tier = tier;
    this.writer = new TierWriter(tier, maxQueuedBytes);
    this.speed = new ReadSpeed(tier.initialBytesPerSecond());
  }

  BlobTier tier() {
    return tier;
  }

  TierWriter writer() {
    return writer;
  }

  ReadSpeed speed() {
    return speed;
  }

  Map<BlobName, ByteBuffer> read(List<BlobName> names, Deadline deadline, FileMapper mapper) {
    long begin = System.nanoTime();
    Map<BlobName, ByteBuffer> found = tier.map(names, deadline, mapper);
    count(names.size(), found, System.nanoTime() - begin, deadline.isExpired());
    return found;
  }

  /** Counts a read. A missing blob says nothing about speed; a late one does. */
  private void count(int requested, Map<BlobName, ByteBuffer> found, long time, boolean isLate) {
    long bytesRead = found.values().stream().mapToLong(ByteBuffer::capacity).sum();
    hits.add(found.size());
    misses.add(requested - found.size());
    bytes.add(bytesRead);
    nanos.add(time);
    if (bytesRead > 0 || isLate) {
      speed.add(bytesRead, time);
    }
  }

  TierCounts counts() {
    return new TierCounts(
        tier.name(),
        tier.type(),
        hits.sum(),
        misses.sum(),
        bytes.sum(),
        nanos.sum(),
        writer.writtenBytes(),
        tier.failures(),
        writer.dropped());
  }
}
