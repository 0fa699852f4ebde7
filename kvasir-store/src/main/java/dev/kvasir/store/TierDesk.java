package dev.kvasir.store;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.FileMapper;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** A tier with what is counted of it, and the thread that writes to it. */
final class TierDesk {
  private final BlobTier tier;
  private final TierWriter writer;
  private final ReadSpeed speed;
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder nanos = new LongAdder();

  TierDesk(BlobTier tier, long waitingBytes) {
    this.tier = tier;
    this.writer = new TierWriter(tier, waitingBytes);
    this.speed = new ReadSpeed(tier.guessedBytesPerSecond());
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
    count(names.size(), found, System.nanoTime() - begin, deadline.isOver());
    return found;
  }

  /** That a blob is not there is no matter of speed; that it has not come in time is. */
  private void count(int asked, Map<BlobName, ByteBuffer> found, long time, boolean isLate) {
    long came = found.values().stream().mapToLong(ByteBuffer::capacity).sum();
    hits.add(found.size());
    misses.add(asked - found.size());
    bytes.add(came);
    nanos.add(time);
    if (came > 0 || isLate) {
      speed.add(came, time);
    }
  }

  TierCounts counts() {
    return new TierCounts(
        tier.name(),
        tier.place(),
        hits.sum(),
        misses.sum(),
        bytes.sum(),
        nanos.sum(),
        writer.writtenBytes(),
        tier.failures(),
        writer.dropped());
  }
}
