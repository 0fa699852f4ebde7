package dev.kvasir.store.folder;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Lets one process at a time remove old files, so that two do not remove twice as many as need be.
 * Nobody waits for it, and nothing breaks where it fails to keep others out: each removal is
 * harmless by itself.
 */
record EvictionLock(Path file) {
  /** Something to do while nobody else does it. */
  interface Alone {
    void run() throws IOException;
  }

  /** Runs it, or does nothing where another is at it. */
  void tryAlone(Alone work) throws IOException {
    Files.createDirectories(file.getParent());
    try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      if (lock != null) {
        work.run();
      }
    } catch (OverlappingFileLockException e) {
      // Another tier of this process has it.
    }
  }
}
