package dev.kvasir.memory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Files that are mapped for several who come and go, say the blocks of a sequence: they are
 * unmapped by the last who lets go. Their names may be other files' by then, or nobody's.
 */
public final class SharedMapping {
  /** Of those that many small files may take: Linux allows a process 65,530 mappings in all. */
  static final int MAX_FILES = 1 << 14;

  private static final AtomicInteger FILES = new AtomicInteger();

  private final Arena arena = Arena.ofShared();
  private final AtomicInteger refCount = new AtomicInteger(1); // whoever makes it
  private final AtomicInteger files = new AtomicInteger(); // of FILES

  /** Where files are mapped to. */
  public Arena arena() {
    return arena;
  }

  /** Maps one of many files, to be read; empty where the process has as many as it should. */
  public Optional<MemorySegment> tryMap(FileChannel file) throws IOException {
    if (FILES.incrementAndGet() > MAX_FILES) {
      FILES.decrementAndGet();
      return Optional.empty();
    }
    files.incrementAndGet();
    return Optional.of(file.map(MapMode.READ_ONLY, 0, file.size(), arena));
  }

  public SharedMapping retain() {
    refCount.incrementAndGet();
    return this;
  }

  public void release() {
    if (refCount.decrementAndGet() == 0) {
      arena.close();
      FILES.addAndGet(-files.get());
    }
  }
}
