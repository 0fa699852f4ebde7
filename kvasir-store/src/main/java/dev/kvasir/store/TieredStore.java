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
 * Several places for blobs, the nearest first. Reads ask one after another, within one deadline for
 * all; writes go to all of them, later, by threads of their own ({@link TierWriter}).
 *
 * <p>Whoever has read a blob checks what is inside, and says what came of it: {@link #markVerified}
 * spreads it to nearer tiers, {@link #deleteDamaged} removes it from where it was, after which
 * another read finds it further away, if anywhere.
 */
public final class TieredStore implements AutoCloseable {
  /** What may wait to be written to a tier, at the most; and no more than a share of the heap. */
  public static final long MAX_QUEUED_BYTES = 256L << 20;

  /** The share of the heap, of which steps and requests need the most. */
  private static final int HEAP_SHARES = 8;

  /** How long closing may take to write what waits. */
  public static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  /**
   * A blob, and where it was.
   *
   * @param bytes on the heap, or in a file that is mapped for its reader
   * @param tier counted from 0, the nearest
   */
  public record LocatedBlob(BlobName name, ByteBuffer bytes, int tier) {
    public int size() {
      return bytes.capacity();
    }

    /** Not to be changed. */
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
   * @param waitingBytes that may wait to be written, for each tier
   */
  public TieredStore(List<BlobTier> tiers, long maxQueuedBytes) {
    this.handles = tiers.stream().map(tier -> new TierHandle(tier, maxQueuedBytes)).toList();
  }

  /**
   * Folders come before servers, otherwise in the order that was typed.
   *
   * @param listener gets a sentence where a disk or a server fails
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

  /** Each tier may take the time that is usual for it. */
  public Map<BlobName, LocatedBlob> read(List<BlobName> names) {
    return read(names, tier -> Deadline.in(tier.defaultReadTimeout()), FileMapper.NONE);
  }

  /** What is found in time, in the order of names. */
  public Map<BlobName, LocatedBlob> read(List<BlobName> names, Deadline deadline) {
    return read(names, tier -> deadline, FileMapper.NONE);
  }

  /** The same where it lies, as far as it lies in files that can stay mapped. */
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

  /** The nearest tier that has each of them, in the order of names; those nowhere are left out. */
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

  /** Those that each tier has. */
  public Set<BlobName> inAllTiers(List<BlobName> names, Deadline deadline) {
    Set<BlobName> there = new HashSet<>(names);
    for (TierHandle handle : handles) {
      if (!there.isEmpty()) {
        there.retainAll(handle.tier().has(List.copyOf(there), deadline));
      }
    }
    return there;
  }

  /** Keeps a blob in all tiers, soon; nobody may change the bytes. */
  public void write(BlobName name, byte[] bytes) {
    handles.forEach(handle -> handle.writer().write(name, bytes));
  }

  /** Adds to a record in all tiers, soon, whoever else adds to it meanwhile. */
  public void append(BlobName record, byte[] bytes) {
    handles.forEach(handle -> handle.writer().append(record, bytes));
  }

  /** For who can wait: until the nearest tier would take so many bytes, or so long. */
  public void awaitCapacity(long bytes, Duration time) {
    handles.getFirst().writer().awaitCapacity(bytes, time);
  }

  /** These were whole and of use: nearer tiers get them too, and their age begins anew. */
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

  /** These were of use just now, read or not; in the order in which they are needed. */
  public void touch(List<BlobName> names) {
    List<BlobName> copy = List.copyOf(names);
    handles.forEach(handle -> handle.writer().touch(copy));
  }

  /** This one was not what its name says; it is forgotten when the call returns. */
  public void deleteDamaged(LocatedBlob found) {
    handles.get(found.tier()).tier().delete(found.name());
  }

  /** Removes them from all tiers, after what waits to be written. */
  public void delete(List<BlobName> names) {
    List<BlobName> copy = List.copyOf(names);
    handles.forEach(handle -> handle.writer().delete(copy));
  }

  /** A record as each tier has it, where they may differ; each may take the time usual for it. */
  public List<byte[]> readFromAllTiers(BlobName name) {
    return handles.stream()
        .map(TierHandle::tier)
        .flatMap(
            tier ->
                tier.read(List.of(name), Deadline.in(tier.defaultReadTimeout())).values().stream())
        .toList();
  }

  public int tierCount() {
    return handles.size();
  }

  public List<TierCounts> counts() {
    return handles.stream().map(TierHandle::counts).toList();
  }

  public ReadSpeed speed(int tier) {
    return handles.get(tier).speed();
  }

  /** What lies in a tier, where that can be known; may list a folder. */
  public Optional<TierSize> size(int tier) {
    return handles.get(tier).tier().size();
  }

  /** Waits until all is written that was asked for, or so long; tells which. */
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

  /** Writes what waits for so long, and drops what is left. */
  public void close(Duration time) {
    Deadline deadline = Deadline.in(time);
    for (TierHandle handle : handles) {
      handle.writer().close(Duration.ofNanos(deadline.nanosLeft()));
      handle.tier().close();
    }
  }
}
