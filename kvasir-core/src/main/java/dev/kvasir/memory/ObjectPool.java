package dev.kvasir.memory;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.function.Supplier;

/**
 * Scratch memory between two uses: a few pieces wait for whoever comes next, from any thread, and
 * what a crowd needed once is not kept.
 *
 * @param <T> what is lent
 */
public final class ObjectPool<T> {
  private static final int MAX_IDLE = 4;

  private final ArrayBlockingQueue<T> idle = new ArrayBlockingQueue<>(MAX_IDLE);
  private final Supplier<T> factory;

  public ObjectPool(Supplier<T> factory) {
    this.factory = factory;
  }

  /** One that nobody else uses, until it is given back. */
  public T acquire() {
    T pooled = idle.poll();
    return pooled == null ? factory.get() : pooled;
  }

  public void release(T pooled) {
    idle.offer(pooled);
  }
}
