package dev.kvasir.memory;

import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A file that is mapped for several who come and go, say the blocks of a sequence: it is unmapped
 * by the last who lets go. Its name may be another file's by then, or nobody's.
 */
public final class SharedMapping {
  private final Arena arena = Arena.ofShared();
  private final AtomicInteger holders = new AtomicInteger(1); // whoever makes it

  /** Where the file is mapped to. */
  public Arena arena() {
    return arena;
  }

  public SharedMapping retain() {
    holders.incrementAndGet();
    return this;
  }

  public void release() {
    if (holders.decrementAndGet() == 0) {
      arena.close();
    }
  }
}
