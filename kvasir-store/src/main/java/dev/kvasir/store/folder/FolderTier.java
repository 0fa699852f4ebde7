package dev.kvasir.store.folder;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobName.Kind;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.Failures;
import dev.kvasir.store.tier.FileMapper;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A tier of immutable files in a folder that any number of processes may share. A file is written
 * under a temporary name and renamed ({@link UnfinishedFiles}). Its modification time is its last
 * use, and the oldest files are evicted when the folder is full ({@link FolderBudget}).
 *
 * <p>A process may be killed at any time: completed writes persist, and an incomplete file has no
 * name that a reader looks up. Writes are not forced to disk. After a power failure a file may lack
 * its bytes; readers detect this by validating the content.
 */
public final class FolderTier implements BlobTier {
  /** A typical SSD, assumed before the first read. */
  private static final double INITIAL_BYTES_PER_SECOND = 500e6;

  /** The age difference between consecutive blobs that were used together. */
  private static final long AGE_STEP_NANOS = 1_000;

  private final Path folder;
  private final BlobFiles files;
  private final UnfinishedFiles unfinished;
  private final FolderBudget budget;
  private final Failures failures;
  private final boolean isLocal;

  /**
   * @param budget in bytes; 0 for no limit
   * @param listener receives a sentence when the disk fails
   */
  public FolderTier(Path folder, long budget, Consumer<String> listener) {
    this.folder = folder;
    this.files = new BlobFiles(folder);
    this.unfinished = new UnfinishedFiles(files.unfinished());
    this.budget = new FolderBudget(files, budget == 0 ? Long.MAX_VALUE : budget);
    this.failures = new Failures(listener);
    prepare();
    this.isLocal = LocalDisk.holds(folder);
  }

  private void prepare() {
    try {
      Files.createDirectories(folder);
      unfinished.clear();
    } catch (IOException e) {
      fail("be prepared", e);
    }
  }

  @Override
  public String name() {
    return folder.toString();
  }

  @Override
  public TierType type() {
    return TierType.DISK;
  }

  @Override
  public Map<BlobName, byte[]> read(List<BlobName> names, Deadline deadline) {
    return read(names, deadline, FileBytes::read);
  }

  @Override
  public Map<BlobName, ByteBuffer> map(List<BlobName> names, Deadline deadline, FileMapper mapper) {
    return isLocal && mapper != FileMapper.NONE
        ? read(names, deadline, file -> FileBytes.map(file, mapper))
        : BlobTier.super.map(names, deadline, mapper);
  }

  /** Reads a file in one of several ways. */
  private interface BlobReader<T> {
    T read(Path file) throws IOException;
  }

  private <T> Map<BlobName, T> read(List<BlobName> names, Deadline deadline, BlobReader<T> reader) {
    Map<BlobName, T> found = new LinkedHashMap<>();
    for (BlobName name : names) {
      if (deadline.isExpired()) {
        break;
      }
      read(name, reader).ifPresent(bytes -> found.put(name, bytes));
    }
    return found;
  }

  private <T> Optional<T> read(BlobName name, BlobReader<T> reader) {
    try {
      return Optional.of(reader.read(files.file(name)));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      fail("be read", e);
      return Optional.empty();
    }
  }

  @Override
  public Set<BlobName> has(List<BlobName> names, Deadline deadline) {
    Set<BlobName> found = new LinkedHashSet<>();
    for (BlobName name : names) {
      if (!deadline.isExpired() && exists(name)) {
        found.add(name);
      }
    }
    return found;
  }

  private boolean exists(BlobName name) {
    return Files.isRegularFile(files.file(name), LinkOption.NOFOLLOW_LINKS);
  }

  @Override
  public boolean write(BlobName name, byte[] bytes) {
    if (bytes.length > budget.limit()) {
      failures.add(
          "size",
          "the store %s has a budget of %d bytes; a blob of %d does not fit"
              .formatted(folder, budget.limit(), bytes.length));
      return false;
    }
    try {
      return isStored(name, bytes.length) || write(files.file(name), bytes);
    } catch (IOException e) {
      fail("be written", e);
      return false;
    }
  }

  /** Returns whether a block exists. One of another length is the remains of a power failure. */
  private boolean isStored(BlobName name, int bytes) throws IOException {
    Path file = files.file(name);
    return name.kind() == Kind.BLOCK
        && BlobFiles.length(file) == bytes
        && touch(file, FileTime.from(Instant.now()));
  }

  private boolean write(Path file, byte[] bytes) throws IOException {
    budget.reserve(bytes.length);
    long before = BlobFiles.length(file);
    boolean isWritten = false;
    try {
      unfinished.write(file, bytes);
      isWritten = true;
    } finally {
      long growth = isWritten ? bytes.length - Math.max(0, before) : 0;
      budget.commit(bytes.length, growth, isWritten && before < 0 ? 1 : 0);
    }
    return true;
  }

  @Override
  public boolean append(BlobName record, byte[] bytes) {
    boolean[] isStored = {false};
    try {
      files.appendLock().runLocked(() -> isStored[0] = write(record, appended(record, bytes)));
    } catch (IOException e) {
      fail("be written", e);
    }
    return isStored[0];
  }

  private byte[] appended(BlobName record, byte[] bytes) throws IOException {
    try {
      byte[] before = FileBytes.read(files.file(record));
      byte[] all = Arrays.copyOf(before, Math.addExact(before.length, bytes.length));
      System.arraycopy(bytes, 0, all, before.length, bytes.length);
      return all;
    } catch (NoSuchFileException e) {
      return bytes;
    }
  }

  @Override
  public void touch(List<BlobName> names) {
    Instant age = Instant.now();
    try {
      for (BlobName name : names) {
        touch(files.file(name), FileTime.from(age));
        age = age.minusNanos(AGE_STEP_NANOS);
      }
    } catch (IOException e) {
      fail("keep the age of files", e);
    }
  }

  /** Sets the modification time; returns whether the file exists. */
  private static boolean touch(Path file, FileTime time) throws IOException {
    try {
      Files.setLastModifiedTime(file, time);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  @Override
  public void delete(BlobName name) {
    Path file = files.file(name);
    try {
      long bytes = BlobFiles.length(file);
      if (Files.deleteIfExists(file) && bytes >= 0) {
        budget.commit(0, -bytes, -1);
      }
    } catch (IOException e) {
      fail("lose a file", e);
    }
  }

  /** Effectively unlimited: the user asked for this disk, however slow it is. */
  @Override
  public Duration defaultReadTimeout() {
    return Duration.ofDays(1);
  }

  @Override
  public double initialBytesPerSecond() {
    return INITIAL_BYTES_PER_SECOND;
  }

  @Override
  public Optional<TierSize> size() {
    try {
      return Optional.of(budget.size());
    } catch (IOException e) {
      fail("be listed", e);
      return Optional.empty();
    }
  }

  @Override
  public long failures() {
    return failures.count();
  }

  /** Does nothing; no resources are held between calls. */
  @Override
  public void close() {}

  private void fail(String work, IOException e) {
    failures.add(work, "the store %s cannot %s: %s".formatted(folder, work, reason(e)));
  }

  private static String reason(IOException e) {
    return switch (e) {
      case AccessDeniedException denied -> "access to %s is denied".formatted(denied.getFile());
      case FileSystemException failed -> "%s: %s".formatted(failed.getFile(), describe(failed));
      default -> e.getMessage();
    };
  }

  private static String describe(FileSystemException failed) {
    return failed.getReason() == null ? failed.getClass().getSimpleName() : failed.getReason();
  }

  /**
   * Whether a mapped file stays readable after its deletion, which holds on local file systems. On
   * a shared file system, an evicted file is gone for all machines, and access to its mapping kills
   * the process. Windows cannot delete a mapped file, so eviction would fail.
   */
  static final class LocalDisk {
    private static final Set<String> LOCAL =
        Set.of(
            "apfs bcachefs btrfs ext2 ext3 ext4 f2fs hfs jfs overlay tmpfs ufs xfs zfs".split(" "));

    private LocalDisk() {}

    /** Returns whether a folder is on a file system known to be local. */
    static boolean holds(Path folder) {
      try {
        String type = Files.getFileStore(folder).type().toLowerCase(Locale.ROOT);
        return File.separatorChar == '/' && LOCAL.contains(type);
      } catch (IOException e) {
        return false;
      }
    }
  }
}
