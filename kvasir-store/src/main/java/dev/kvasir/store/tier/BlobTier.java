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
 * A place where blobs outlive the process. A tier treats blobs as named bytes. The reader validates
 * the content and deletes damaged blobs ({@link #delete}).
 *
 * <p>A tier never throws for failures of a disk or a server. It counts and reports them ({@link
 * Failures}), and answers as if the blob were missing. Implementations are thread-safe.
 */
public interface BlobTier extends AutoCloseable {
  /** The type of a tier, for display. */
  enum TierType {
    DISK,
    REDIS;

    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Returns the display name: the folder or the server, without its password. */
  String name();

  TierType type();

  /**
   * Returns the existing blobs in the order of {@code names}. Blobs not read by the deadline are
   * left out.
   */
  Map<BlobName, byte[]> read(List<BlobName> names, Deadline deadline);

  /**
   * Reads blobs like {@link #read}, but maps files where possible instead of copying them; other
   * blobs are on the heap. Mapped bytes have been loaded into memory once.
   */
  default Map<BlobName, ByteBuffer> map(
      List<BlobName> names, Deadline deadline, FileMapper mapper) {
    Map<BlobName, ByteBuffer> found = new LinkedHashMap<>();
    read(names, deadline).forEach((name, bytes) -> found.put(name, ByteBuffer.wrap(bytes)));
    return found;
  }

  /** Returns the names that exist. A later read may still find a blob missing or damaged. */
  Set<BlobName> has(List<BlobName> names, Deadline deadline);

  /**
   * Stores a blob. An existing block is not written again, but its age is renewed; a record
   * replaces the one of the same name.
   *
   * @return whether the blob is stored, as far as the tier can know
   */
  boolean write(BlobName name, byte[] bytes);

  /**
   * Appends to a record, creating it if necessary. Concurrent appends of several processes are all
   * preserved.
   *
   * @return whether the bytes are stored, as far as the tier can know
   */
  boolean append(BlobName record, byte[] bytes);

  /**
   * Renews the age of blobs that were just used. Names are in the order of need: later ones are
   * evicted first, since the start of a text is shared by more texts than its end.
   */
  void touch(List<BlobName> names);

  /** Deletes a blob that is damaged or no longer wanted. */
  void delete(BlobName name);

  /** Returns the read timeout for callers that set no deadline. */
  Duration defaultReadTimeout();

  /** Returns the read throughput to assume before the first read. */
  double initialBytesPerSecond();

  /** Returns the size of Kvasir's blobs here, if it is known. */
  Optional<TierSize> size();

  /** Returns how often the disk or the server failed. */
  long failures();

  @Override
  void close();

  /** The number of blobs and their total size. */
  record TierSize(long blobs, long bytes) {}
}
