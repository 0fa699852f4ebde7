package dev.kvasir.store.folder;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;

/** A lock file that one process at a time holds; the system releases it when the process ends. */
record FolderLock(Path file) {
  /** File locks belong to a process, so its threads and tiers exclude each other here. */
  private static final ReentrantLock THREADS = new ReentrantLock();

  /** A task that runs while the lock is held. */
  interface LockedTask {
    void run() throws IOException;
  }

  private FileChannel open() throws IOException {
    Files.createDirectories(file.getParent());
    return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  }

  /** Runs the task if no other process or tier holds the lock. */
  void tryRunLocked(LockedTask work) throws IOException {
    try (FileChannel channel = open();
        FileLock lock = channel.tryLock()) {
      if (lock != null) {
        work.run();
      }
    } catch (OverlappingFileLockException e) {
      // Another tier of this process holds it.
    }
  }

  /** Waits for the lock and runs the task. */
  void runLocked(LockedTask work) throws IOException {
    THREADS.lock();
    try (FileChannel channel = open();
        FileLock lock = channel.lock()) {
      if (lock.isValid()) {
        work.run();
      }
    } finally {
      THREADS.unlock();
    }
  }
}
