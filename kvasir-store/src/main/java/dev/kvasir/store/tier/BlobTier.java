package dev.kvasir.store.tier;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A place where blobs outlive the process. To a tier they are bytes with a name: whoever reads one
 * checks what is inside, and says so where it was damaged ({@link #forget}).
 *
 * <p>A tier never throws for what a disk or a server does. It counts the failure, says it in a
 * sentence ({@link Failures}), and answers as if nothing were there. Any thread may call.
 */
public interface BlobTier extends AutoCloseable {
  /** What kind of place it is, for people. */
  enum TierType {
    DISK,
    REDIS;

    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** For people: the folder or the server, without its password. */
  String name();

  TierType type();

  /**
   * Those that are there, in the order of their names; what is not found by the deadline is left
   * out.
   */
  Map<BlobName, byte[]> read(List<BlobName> names, Deadline deadline);

  /**
   * The same to be read where they lie, as far as they can be, for as long as the files are mapped;
   * the others on the heap. What comes has been read once, so that who goes on finds it in memory.
   */
  default Map<BlobName, ByteBuffer> map(
      List<BlobName> names, Deadline deadline, FileMapper mapper) {
    Map<BlobName, ByteBuffer> found = new LinkedHashMap<>();
    read(names, deadline).forEach((name, bytes) -> found.put(name, ByteBuffer.wrap(bytes)));
    return found;
  }

  /** Those that are there. Their bytes may be gone or damaged all the same when they are read. */
  Set<BlobName> has(List<BlobName> names, Deadline deadline);

  /**
   * Keeps a blob. A block that is there already is not written again, its age begins anew; a record
   * replaces the one of its name.
   *
   * @return whether it is kept, as far as the tier can know
   */
  boolean write(BlobName name, byte[] bytes);

  /**
   * Adds to the end of a record, which is made where there is none. Of processes that add at once,
   * none loses what another has added.
   *
   * @return whether it is kept, as far as the tier can know
   */
  boolean append(BlobName record, byte[] bytes);

  /**
   * These were of use just now: their age begins anew. In the order in which they are needed: what
   * is last leaves first, since the beginning of a text serves more texts than its end.
   */
  void touch(List<BlobName> names);

  /** This one was found damaged, or its owner wants it gone. */
  void delete(BlobName name);

  /** How long a read may take where the caller does not say. */
  Duration defaultReadTimeout();

  /** Read speed in bytes per second to expect before anything was read. */
  double initialBytesPerSecond();

  /** What lies there of ours, where that can be known. */
  Optional<TierSize> size();

  /** How often the disk or the server failed. */
  long failures();

  @Override
  void close();

  /** Blobs and their bytes. */
  record TierSize(long blobs, long bytes) {}
}
