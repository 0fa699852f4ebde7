package dev.kvasir.store.folder;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobName.Kind;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.Failures;
import dev.kvasir.store.tier.FileMapper;
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
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Blobs as plain files that never change, written beside and renamed ({@link UnfinishedFiles}), in
 * a folder that any number of processes may use at once. When a file was of use last is its time of
 * modification, and the oldest leave when the folder is full ({@link FolderBudget}).
 *
 * <p>A process may be killed at any moment: what {@link #generate} has returned from is there, and
 * what it was writing has no name that anybody reads. Nothing is forced to the disk, which a loss
 * of power would ask for: then a file may be there without its bytes, and is found damaged by
 * whoever checks what is inside.
 */
public final class FolderTier implements BlobTier {
  /** What a plain SSD gives; a guess until something was read. */
  private static final double GUESSED_BYTES_PER_SECOND = 500e6;

  /** How much older each blob is than the one before, of those that were of use together. */
  private static final long AGE_STEP_NANOS = 1_000;

  private final Path folder;
  private final BlobFiles files;
  private final UnfinishedFiles unfinished;
  private final FolderBudget budget;
  private final Failures failures;
  private final boolean isLocal;

  /**
   * @param budget in bytes; 0 is none
   * @param listener gets a sentence where the disk fails
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

  /** A way to read a file. */
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

  /** Whether a block is there; one of another length is what a loss of power has left. */
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

  /** Whether there was a file to touch. */
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

  /** A disk that is slow is still the one that was asked for. */
  @Override
  public Duration defaultReadTimeout() {
    return Duration.ofDays(1);
  }

  @Override
  public double initialBytesPerSecond() {
    return GUESSED_BYTES_PER_SECOND;
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

  /** Nothing is held between calls. */
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
}
