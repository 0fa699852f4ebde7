package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The lock of a download, so that of several processes one downloads a file and the others wait. It
 * excludes Python's huggingface_hub too: that package takes {@code flock} on Unix, which is
 * independent of Java's locks on Linux, and {@code LockFileEx} on Windows, which Java's are.
 *
 * <p>The lock saves bandwidth only. On a file system that ignores it, two downloads write the same
 * bytes to the same places.
 */
final class BlobLock implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(200);

  /** Java's locks belong to the process, so threads need a lock of their own. */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path file;
  private final AutoCloseable held;

  private BlobLock(Path file, AutoCloseable held) {
    this.file = file;
    this.held = held;
  }

  /**
   * Waits for the lock.
   *
   * @param onWait called once if another process or thread has it
   */
  static BlobLock acquire(Path file, Runnable onWait) {
    Path key = file.toAbsolutePath().normalize();
    boolean hasWaited = false;
    while (true) {
      Optional<BlobLock> lock = tryAcquire(key);
      if (lock.isPresent()) {
        return lock.get();
      }
      if (!hasWaited) {
        onWait.run();
        hasWaited = true;
      }
      try {
        Thread.sleep(POLL);
      } catch (InterruptedException e) {
        throw HubHttp.interrupted();
      }
    }
  }

  static Optional<BlobLock> tryAcquire(Path file) {
    if (!HELD.add(file)) {
      return Optional.empty();
    }
    Optional<? extends AutoCloseable> held = Optional.empty();
    try {
      held = PosixLock.isAvailable() ? PosixLock.tryAcquire(file) : tryChannel(file);
      return held.map(each -> new BlobLock(file, each));
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be locked".formatted(file), e);
    } finally {
      if (held.isEmpty()) {
        HELD.remove(file);
      }
    }
  }

  private static Optional<AutoCloseable> tryChannel(Path file) throws IOException {
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock = null;
    try {
      lock = channel.tryLock(0, 1, false);
    } catch (OverlappingFileLockException e) {
      lock = null; // held through another class loader of this process
    } finally {
      if (lock == null) {
        channel.close();
      }
    }
    return lock == null ? Optional.empty() : Optional.of(channel);
  }

  @Override
  public void close() {
    try {
      held.close();
    } catch (Exception e) {
      throw new InvalidInputException("%s: cannot be unlocked".formatted(file), e);
    } finally {
      HELD.remove(file);
    }
  }
}
