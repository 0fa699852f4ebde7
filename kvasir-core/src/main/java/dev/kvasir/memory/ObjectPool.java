package dev.kvasir.memory;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.function.Supplier;

/**
 * A thread-safe pool of reusable scratch objects. It retains only a few idle ones, so memory from a
 * burst of users is freed.
 *
 * @param <T> the pooled type
 */
public final class ObjectPool<T> {
  private static final int MAX_IDLE = 4;

  private final ArrayBlockingQueue<T> idle = new ArrayBlockingQueue<>(MAX_IDLE);
  private final Supplier<T> factory;

  public ObjectPool(Supplier<T> factory) {
    this.factory = factory;
  }

  /** Returns an object for exclusive use until {@link #release}. */
  public T acquire() {
    T pooled = idle.poll();
    return pooled == null ? factory.get() : pooled;
  }

  public void release(T pooled) {
    idle.offer(pooled);
  }
}
