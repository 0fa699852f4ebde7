package dev.kvasir.store;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * A tier that remembers what was asked of it, whose writes can be held up, and which fails at empty
 * blobs.
 */
final class MemoryTier implements BlobTier {
  final Map<BlobName, byte[]> kept = new ConcurrentHashMap<>();
  final List<List<BlobName>> asked = Collections.synchronizedList(new ArrayList<>());
  final List<List<BlobName>> used = Collections.synchronizedList(new ArrayList<>());
  final Semaphore writes = new Semaphore(1_000_000);
  private final String name;

  MemoryTier(String name) {
    this.name = name;
  }

  /** Writes wait from here on. */
  MemoryTier held() {
    writes.drainPermits();
    return this;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Place place() {
    return Place.DISK;
  }

  @Override
  public Map<BlobName, byte[]> read(List<BlobName> names, Deadline deadline) {
    asked.add(names);
    Map<BlobName, byte[]> found = new LinkedHashMap<>();
    for (BlobName one : has(names, deadline)) {
      found.put(one, kept.get(one));
    }
    return found;
  }

  @Override
  public Set<BlobName> has(List<BlobName> names, Deadline deadline) {
    Set<BlobName> found = new LinkedHashSet<>(names);
    found.retainAll(kept.keySet());
    return found;
  }

  @Override
  public boolean write(BlobName blob, byte[] bytes) {
    writes.acquireUninterruptibly();
    if (bytes.length == 0) {
      throw new NoClassDefFoundError("of a tier that is not installed whole");
    }
    kept.put(blob, bytes);
    return true;
  }

  @Override
  public void used(List<BlobName> names) {
    used.add(names);
  }

  @Override
  public void forget(BlobName blob) {
    kept.remove(blob);
  }

  @Override
  public Duration usualReadTime() {
    return Duration.ofDays(1);
  }

  @Override
  public double guessedBytesPerSecond() {
    return 1000;
  }

  @Override
  public Optional<TierSize> size() {
    return Optional.of(new TierSize(kept.size(), 0));
  }

  @Override
  public long failures() {
    return 0;
  }

  @Override
  public void close() {
    writes.release(1000);
  }
}
