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
 * Keeps a folder within its bytes by removing what was not of use for longest. What lies there is
 * counted by listing it; between listings a process adds up its own writes, and knows nothing of
 * those of others. So it lists anew once it has written a sixteenth of the budget, and as many
 * processes as share a folder may exceed it by so many sixteenths for a while.
 */
final class FolderBudget {
  /** What may be written between listings, as a part of the budget. */
  private static final int RELIST_FRACTION = 16;

  /** By how much clocks of machines that share a folder may differ. */
  private static final Duration MAX_CLOCK_SKEW = Duration.ofMinutes(10);

  private final BlobFiles files;
  private final FolderLock lock;
  private final long limit;

  private boolean isListed;
  private TierSize listed = new TierSize(0, 0);

  /** Written by this process since the last listing, and what it is about to write. */
  private long addedBytes;

  private long addedBlobs;

  /** Bytes of {@link #added} that may have no file yet. */
  private long reservedBytes;

  /**
   * @param limit in bytes; {@link Long#MAX_VALUE} is none
   */
  FolderBudget(BlobFiles files, long limit) {
    this.files = files;
    this.lock = files.evictionLock();
    this.limit = limit;
  }

  long limit() {
    return limit;
  }

  /** Makes room for a file and counts it; to be called before it is written. */
  synchronized void reserve(long bytes) throws IOException {
    if (limit != Long.MAX_VALUE && mustList(bytes)) {
      // Nobody waits for it: each removal is harmless by itself.
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
    // A little more than is needed, so that not every file that follows lists the folder again.
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
        stuck = e; // say, another user's: the next one may go
      }
    }
    if (stuck != null && listed.bytes() + addedBytes + bytes > limit) {
      throw stuck;
    }
  }

  /** Files of this process that are being written are on top of what is listed. */
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
   * What was of use in the future, by a clock that was wrong, would stay for ever and push out
   * everything that comes: its age begins now.
   */
  private static Entry clampToNow(Entry entry) throws IOException {
    try {
      Files.setLastModifiedTime(entry.file(), FileTime.from(Instant.now()));
      return new Entry(entry.file(), entry.bytes(), Files.getLastModifiedTime(entry.file()));
    } catch (FileSystemException e) {
      return entry; // gone meanwhile, or another user's
    }
  }

  /** Unless it was of use since it was listed. A reader that has it open goes on reading. */
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
   * The file that was promised is there, or has come to nothing.
   *
   * @param bytes that were promised
   * @param growth by which the folder has grown: less where a file was replaced
   */
  synchronized void commit(long bytes, long growth, int blobs) {
    reservedBytes -= bytes;
    addedBytes += growth - bytes;
    addedBlobs += blobs;
  }

  /** As far as this process knows. */
  synchronized TierSize size() throws IOException {
    if (!isListed) {
      list();
    }
    return new TierSize(listed.blobs() + addedBlobs, listed.bytes() + addedBytes);
  }
}
