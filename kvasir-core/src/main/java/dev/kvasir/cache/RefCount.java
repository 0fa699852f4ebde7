package dev.kvasir.cache;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts the sequences that hold a block, from any thread. */
final class RefCount {
  private final AtomicInteger count = new AtomicInteger(1);

  void retain() {
    count.incrementAndGet();
  }

  /** Answers whether the last one has gone. */
  boolean release() {
    return count.decrementAndGet() == 0;
  }

  boolean isShared() {
    return count.get() > 1;
  }
}
