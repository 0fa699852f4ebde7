package dev.kvasir.cache;

import java.util.concurrent.atomic.AtomicInteger;

/** A thread-safe count of the sequences that reference a block. */
final class RefCount {
  private final AtomicInteger count = new AtomicInteger(1);

  void retain() {
    count.incrementAndGet();
  }

  /** Returns whether the last reference was released. */
  boolean release() {
    return count.decrementAndGet() == 0;
  }

  boolean isShared() {
    return count.get() > 1;
  }
}
