package dev.kvasir.store;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.BlobTier.TierSize;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.FileMapper;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A blob store of several tiers, nearest first. Reads query one tier after another within one
 * deadline. Writes go to all tiers asynchronously ({@link TierWriter}).
 *
 * <p>The reader of a blob validates its content and reports the result. {@link #markVerified}
 * copies the blob to nearer tiers. {@link #deleteDamaged} removes it from its tier, so that the
 * next read tries the tiers further away. Thread-safe.
 */
public final class TieredStore implements AutoCloseable {
  /** The maximum size of a tier's write queue; a share of the heap bounds it further. */
  public static final long MAX_QUEUED_BYTES = 256L << 20;

  /** The inverse of that share of the heap; most of the heap belongs to steps and requests. */
  private static final int HEAP_SHARES = 8;

  /** How long closing may take to write the queues. */
  public static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  /**
   * A blob and the tier it was read from.
   *
   * @param bytes on the heap, or a file mapping that the caller of the read manages
   * @param tier index of the tier; 0 is the nearest
   */
  public record LocatedBlob(BlobName name, ByteBuffer bytes, int tier) {
    public int size() {
      return bytes.capacity();
    }

    /** Returns the bytes, which callers must not modify. */
    public byte[] toArray() {
      if (bytes.hasArray()) {
        return bytes.array();
      }
      byte[] copy = new byte[size()];
      bytes.get(0, copy);
      return copy;
    }
  }

  private final List<TierHandle> handles;

  /**
   * @param maxQueuedBytes limit of each tier's write queue
   */
  public TieredStore(List<BlobTier> tiers, long maxQueuedBytes) {
    this.handles = tiers.stream().map(tier -> new TierHandle(tier, maxQueuedBytes)).toList();
  }

  /**
   * Opens the tiers: folders before servers, otherwise in the given order.
   *
   * @param listener receives a sentence when a disk or a server fails
   */
  public static TieredStore open(List<StoreAddress> addresses, Consumer<String> listener) {
    List<BlobTier> tiers =
        addresses.stream()
            .sorted(
                Comparator.comparing(address -> address instanceof StoreAddress.RedisStoreAddress))
            .map(address -> address.open(listener))
            .toList();
    long share = Runtime.getRuntime().maxMemory() / HEAP_SHARES;
    return new TieredStore(tiers, Math.min(MAX_QUEUED_BYTES, share));
  }

  /** Reads blobs, with each tier's default timeout. */
  public Map<BlobName, LocatedBlob> read(List<BlobName> names) {
    return read(names, tier -> Deadline.in(tier.defaultReadTimeout()), FileMapper.NONE);
  }

  /** Returns the blobs found before the deadline, in the order of {@code names}. */
  public Map<BlobName, LocatedBlob> read(List<BlobName> names, Deadline deadline) {
    return read(names, tier -> deadline, FileMapper.NONE);
  }

  /**
   * Reads blobs like {@link #read(List, Deadline)}, but maps files where they can stay mapped
   * instead of copying them.
   */
  public Map<BlobName, LocatedBlob> read(
      List<BlobName> names, Deadline deadline, FileMapper mapper) {
    return read(names, tier -> deadline, mapper);
  }

  private Map<BlobName, LocatedBlob> read(
      List<BlobName> names, Function<BlobTier, Deadline> deadline, FileMapper mapper) {
    Map<BlobName, LocatedBlob> found = new LinkedHashMap<>();
    for (int tier = 0; tier < handles.size(); tier++) {
      List<BlobName> missing = missing(names, found.keySet());
      if (!missing.isEmpty()) {
        add(handles.get(tier), tier, missing, deadline, mapper, found);
      }
    }
    return inOrder(names, found);
  }

  private static void add(
      TierHandle handle,
      int tier,
      List<BlobName> missing,
      Function<BlobTier, Deadline> deadline,
      FileMapper mapper,
      Map<BlobName, LocatedBlob> found) {
    handle
        .read(missing, deadline.apply(handle.tier()), mapper)
        .forEach((name, bytes) -> found.put(name, new LocatedBlob(name, bytes, tier)));
  }

  private static List<BlobName> missing(List<BlobName> names, Collection<BlobName> found) {
    return names.stream().filter(name -> !found.contains(name)).distinct().toList();
  }

  private static <T> Map<BlobName, T> inOrder(List<BlobName> names, Map<BlobName, T> found) {
    Map<BlobName, T> ordered = new LinkedHashMap<>();
    for (BlobName name : names) {
      Optional.ofNullable(found.get(name)).ifPresent(one -> ordered.put(name, one));
    }
    return ordered;
  }

  /**
   * Returns the nearest tier of each blob, in the order of {@code names}. Missing blobs are left
   * out.
   */
  public Map<BlobName, Integer> locate(List<BlobName> names, Deadline deadline) {
    Map<BlobName, Integer> found = new LinkedHashMap<>();
    for (int tier = 0; tier < handles.size(); tier++) {
      List<BlobName> missing = missing(names, found.keySet());
      if (!missing.isEmpty()) {
        for (BlobName name : handles.get(tier).tier().has(missing, deadline)) {
          found.put(name, tier);
        }
      }
    }
    return inOrder(names, found);
  }

  public Set<BlobName> inAllTiers(List<BlobName> names, Deadline deadline) {
    Set<BlobName> there = new HashSet<>(names);
    for (TierHandle handle : handles) {
      if (!there.isEmpty()) {
        there.retainAll(handle.tier().has(List.copyOf(there), deadline));
      }
    }
    return there;
  }

  /** Writes a blob to all tiers asynchronously. Nobody may modify the bytes afterwards. */
  public void write(BlobName name, byte[] bytes) {
    handles.forEach(handle -> handle.writer().write(name, bytes));
  }

  /** Appends to a record in all tiers asynchronously; concurrent appends are all preserved. */
  public void append(BlobName record, byte[] bytes) {
    handles.forEach(handle -> handle.writer().append(record, bytes));
  }

  /** Waits until the nearest tier's queue would accept {@code bytes}, for at most {@code time}. */
  public void awaitCapacity(long bytes, Duration time) {
    handles.getFirst().writer().awaitCapacity(bytes, time);
  }

  /** Marks blobs as valid and used: copies them to nearer tiers and renews their age. */
  public void markVerified(List<LocatedBlob> found) {
    for (int tier = 0; tier < handles.size(); tier++) {
      for (LocatedBlob one : found) {
        if (tier < one.tier()) {
          handles.get(tier).writer().write(one.name(), one.toArray());
        }
      }
    }
    touch(found.stream().map(LocatedBlob::name).toList());
  }

  /** Renews the age of blobs that were just used, in the order in which a reader needs them. */
  public void touch(List<BlobName> names) {
    List<BlobName> copy = List.copyOf(names);
    handles.forEach(handle -> handle.writer().touch(copy));
  }

  /** Deletes a blob whose content does not match its name; it is gone when the call returns. */
  public void deleteDamaged(LocatedBlob found) {
    handles.get(found.tier()).tier().delete(found.name());
  }

  /** Deletes blobs from all tiers, after the pending writes. */
  public void delete(List<BlobName> names) {
    List<BlobName> copy = List.copyOf(names);
    handles.forEach(handle -> handle.writer().delete(copy));
  }

  /** Returns a record as each tier has it; tiers may differ. Each tier has its default timeout. */
  public List<byte[]> readFromAllTiers(BlobName name) {
    return handles.stream()
        .map(TierHandle::tier)
        .flatMap(
            tier ->
                tier.read(List.of(name), Deadline.in(tier.defaultReadTimeout())).values().stream())
        .toList();
  }

  public List<TierCounts> counts() {
    return handles.stream().map(TierHandle::counts).toList();
  }

  public ReadSpeed speed(int tier) {
    return handles.get(tier).speed();
  }

  /** Returns the size of a tier if it is known; may list a folder. */
  public Optional<TierSize> size(int tier) {
    return handles.get(tier).tier().size();
  }

  /**
   * Waits until all pending writes are done, for at most {@code time}; returns whether they are.
   */
  public boolean flush(Duration time) {
    Deadline deadline = Deadline.in(time);
    List<TierHandle> late = new ArrayList<>(handles);
    late.removeIf(handle -> handle.writer().flush(Duration.ofNanos(deadline.nanosLeft())));
    return late.isEmpty();
  }

  @Override
  public void close() {
    close(CLOSE_TIMEOUT);
  }

  /** Works on the write queues for at most {@code time}, then drops the rest. */
  public void close(Duration time) {
    Deadline deadline = Deadline.in(time);
    for (TierHandle handle : handles) {
      handle.writer().close(Duration.ofNanos(deadline.nanosLeft()));
      handle.tier().close();
    }
  }
}
