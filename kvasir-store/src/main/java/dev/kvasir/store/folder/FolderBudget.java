package dev.kvasir.store.folder;

import dev.kvasir.store.folder.BlobFiles.Entry;
import dev.kvasir.store.tier.BlobTier.TierSize;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Keeps a folder within its budget by evicting the least recently used files. A listing counts the
 * existing files; between listings a process adds its own writes and does not see those of others.
 * It lists again after writing a sixteenth of the budget. So each process that shares a folder may
 * exceed the budget by a sixteenth temporarily. Thread-safe.
 */
final class FolderBudget {
  /** The budget divided by what may be written between listings. */
  private static final int RELIST_FRACTION = 16;

  /** The tolerated clock difference of machines that share a folder. */
  private static final Duration MAX_CLOCK_SKEW = Duration.ofMinutes(10);

  private final BlobFiles files;
  private final FolderLock lock;
  private final long limit;

  private boolean isListed;
  private TierSize listed = new TierSize(0, 0);

  /** Bytes that this process wrote since the last listing or has reserved. */
  private long addedBytes;

  private long addedBlobs;

  /** The part of {@link #addedBytes} that may have no file yet. */
  private long reservedBytes;

  /**
   * @param limit in bytes; {@link Long#MAX_VALUE} for none
   */
  FolderBudget(BlobFiles files, long limit) {
    this.files = files;
    this.lock = files.evictionLock();
    this.limit = limit;
  }

  long limit() {
    return limit;
  }

  /** Reserves bytes for a file before it is written, evicting others if necessary. */
  synchronized void reserve(long bytes) throws IOException {
    if (limit != Long.MAX_VALUE && mustList(bytes)) {
      // Skipped while another process evicts; each deletion is safe on its own.
      lock.tryRunLocked(() -> ensureCapacity(bytes));
    }
    addedBytes += bytes;
    reservedBytes += bytes;
  }

  private boolean mustList(long bytes) {
    return !isListed
        || listed.bytes() + addedBytes + bytes > limit
        || addedBytes + bytes > limit / RELIST_FRACTION;
  }

  private void ensureCapacity(long bytes) throws IOException {
    List<Entry> entries = list();
    if (listed.bytes() + addedBytes + bytes <= limit) {
      return;
    }
    // Frees a little more than needed, so that not every following file lists the folder again.
    long wanted = Math.max(0, limit - limit / RELIST_FRACTION - bytes);
    entries.sort(Comparator.comparing(Entry::lastUsed));
    FileSystemException stuck = null;
    for (Entry oldest : entries) {
      if (listed.bytes() + addedBytes <= wanted) {
        return;
      }
      try {
        remove(oldest);
      } catch (FileSystemException e) {
        stuck = e; // for example another user's file; the next one may be deletable
      }
    }
    if (stuck != null && listed.bytes() + addedBytes + bytes > limit) {
      throw stuck;
    }
  }

  /** Lists the folder. Files that this process is writing count in addition. */
  private List<Entry> list() throws IOException {
    List<Entry> entries = new ArrayList<>();
    FileTime latest = FileTime.from(Instant.now().plus(MAX_CLOCK_SKEW));
    for (Entry entry : files.list()) {
      entries.add(entry.lastUsed().compareTo(latest) > 0 ? clampToNow(entry) : entry);
    }
    listed = new TierSize(entries.size(), entries.stream().mapToLong(Entry::bytes).sum());
    addedBytes = reservedBytes;
    addedBlobs = 0;
    isListed = true;
    return entries;
  }

  /**
   * Resets a modification time in the future, which a wrong clock left. Such a file would otherwise
   * never be evicted.
   */
  private static Entry clampToNow(Entry entry) throws IOException {
    try {
      Files.setLastModifiedTime(entry.file(), FileTime.from(Instant.now()));
      return new Entry(entry.file(), entry.bytes(), Files.getLastModifiedTime(entry.file()));
    } catch (FileSystemException e) {
      return entry; // deleted meanwhile, or another user's
    }
  }

  /** Deletes a file unless it was used since the listing. Readers that have it open can go on. */
  private void remove(Entry entry) throws IOException {
    try {
      if (Files.getLastModifiedTime(entry.file()).equals(entry.lastUsed())) {
        Files.delete(entry.file());
        listed = new TierSize(listed.blobs() - 1, listed.bytes() - entry.bytes());
      }
    } catch (NoSuchFileException e) {
      listed = new TierSize(listed.blobs() - 1, listed.bytes() - entry.bytes());
    }
  }

  /**
   * Releases the reservation of a file that has been written or has failed.
   *
   * @param bytes that were reserved
   * @param growth of the folder; less than {@code bytes} if a file was replaced
   */
  synchronized void commit(long bytes, long growth, int blobs) {
    reservedBytes -= bytes;
    addedBytes += growth - bytes;
    addedBlobs += blobs;
  }

  /** Returns the size as far as this process knows. */
  synchronized TierSize size() throws IOException {
    if (!isListed) {
      list();
    }
    return new TierSize(listed.blobs() + addedBlobs, listed.bytes() + addedBytes);
  }
}
