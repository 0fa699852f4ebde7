package dev.kvasir.store;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.Deadline;
import java.nio.ByteBuffer;
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

/** A tier that records requests, can block writes, and fails for empty blobs. */
final class MemoryTier implements BlobTier {
  final Map<BlobName, byte[]> blobs = new ConcurrentHashMap<>();
  final List<List<BlobName>> requests = Collections.synchronizedList(new ArrayList<>());
  final List<List<BlobName>> used = Collections.synchronizedList(new ArrayList<>());
  final Semaphore writes = new Semaphore(1_000_000);
  private final String name;

  MemoryTier(String name) {
    this.name = name;
  }

  /** Blocks writes from now on. */
  MemoryTier withBlockedWrites() {
    writes.drainPermits();
    return this;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public TierType type() {
    return TierType.DISK;
  }

  @Override
  public Map<BlobName, byte[]> read(List<BlobName> names, Deadline deadline) {
    requests.add(names);
    Map<BlobName, byte[]> found = new LinkedHashMap<>();
    for (BlobName one : has(names, deadline)) {
      found.put(one, blobs.get(one));
    }
    return found;
  }

  @Override
  public Set<BlobName> has(List<BlobName> names, Deadline deadline) {
    Set<BlobName> found = new LinkedHashSet<>(names);
    found.retainAll(blobs.keySet());
    return found;
  }

  @Override
  public boolean write(BlobName blob, byte[] bytes) {
    writes.acquireUninterruptibly();
    if (bytes.length == 0) {
      throw new NoClassDefFoundError("of a tier that is not installed whole");
    }
    blobs.put(blob, bytes);
    return true;
  }

  @Override
  public boolean append(BlobName record, byte[] bytes) {
    blobs.merge(
        record,
        bytes,
        (before, more) ->
            ByteBuffer.allocate(before.length + more.length).put(before).put(more).array());
    return true;
  }

  @Override
  public void touch(List<BlobName> names) {
    used.add(names);
  }

  @Override
  public void delete(BlobName blob) {
    blobs.remove(blob);
  }

  @Override
  public Duration defaultReadTimeout() {
    return Duration.ofDays(1);
  }

  @Override
  public double initialBytesPerSecond() {
    return 1000;
  }

  @Override
  public Optional<TierSize> size() {
    return Optional.of(new TierSize(blobs.size(), 0));
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
