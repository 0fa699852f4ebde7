package dev.kvasir.store.folder;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;

/** A file that one process at a time locks; a process that ends lets go of it, however it ends. */
record FolderLock(Path file) {
  /** Locks of files are a process's: its threads and tiers wait for each other here. */
  private static final ReentrantLock THREADS = new ReentrantLock();

  /** Something to do while nobody else does it. */
  interface LockedTask {
    void run() throws IOException;
  }

  private FileChannel open() throws IOException {
    Files.createDirectories(file.getParent());
    return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  }

  /** Runs it, or does nothing where another is at it. */
  void tryRunLocked(LockedTask work) throws IOException {
    try (FileChannel channel = open();
        FileLock lock = channel.tryLock()) {
      if (lock != null) {
        work.run();
      }
    } catch (OverlappingFileLockException e) {
      // Another tier of this process has it.
    }
  }

  /** Runs it when all others have done. */
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
