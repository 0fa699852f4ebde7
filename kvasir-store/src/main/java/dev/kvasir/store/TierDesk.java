package dev.kvasir.store;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.Deadline;
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

  Map<BlobName, byte[]> read(List<BlobName> names, Deadline deadline) {
    long begin = System.nanoTime();
    Map<BlobName, byte[]> found = tier.read(names, deadline);
    count(names.size(), found, System.nanoTime() - begin, deadline.isOver());
    return found;
  }

  /** That a blob is not there is no matter of speed; that it has not come in time is. */
  private void count(int asked, Map<BlobName, byte[]> found, long time, boolean isLate) {
    long came = found.values().stream().mapToLong(blob -> blob.length).sum();
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
        hits.sum(),
        misses.sum(),
        bytes.sum(),
        nanos.sum(),
        writer.writtenBytes(),
        tier.failures(),
        writer.dropped());
  }
}
