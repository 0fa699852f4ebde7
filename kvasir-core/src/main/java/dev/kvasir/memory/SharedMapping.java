package dev.kvasir.memory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A reference-counted set of mapped files, for example the blocks of a sequence; the last reference
 * unmaps them. Files may be renamed or deleted while they are mapped.
 */
public final class SharedMapping {
  /** Maximum mappings of small files: Linux allows a process 65,530 mappings in all. */
  static final int MAX_FILES = 1 << 14;

  private static final AtomicInteger FILES = new AtomicInteger();

  private final Arena arena = Arena.ofShared();
  private final AtomicInteger refCount = new AtomicInteger(1); // the creator's reference
  private final AtomicInteger files = new AtomicInteger(); // this object's share of FILES

  /** Returns the arena that files are mapped into. */
  public Arena arena() {
    return arena;
  }

  /** Maps a file read-only; empty if the process has too many mappings. */
  public Optional<MemorySegment> tryMap(FileChannel file) throws IOException {
    if (FILES.incrementAndGet() > MAX_FILES) {
      FILES.decrementAndGet();
      return Optional.empty();
    }
    files.incrementAndGet();
    MemorySegment bytes = file.map(MapMode.READ_ONLY, 0, file.size(), arena);
    ProtectedMappings.protect(bytes, arena);
    return Optional.of(bytes);
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
