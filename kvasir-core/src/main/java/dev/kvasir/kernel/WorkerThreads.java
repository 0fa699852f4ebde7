package dev.kvasir.kernel;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The threads of a {@link WorkerPool}. Idle ones spin before they sleep, one atomic operation
 * claims a part, and nothing is allocated.
 */
final class WorkerThreads {
  /**
   * About 50 microseconds: longer than the gap between two tasks, short enough to make waking
   * cheap.
   */
  private static final int SPINS_BEFORE_SLEEP = 4_000;

  /** A few microseconds: yielding the processor more often would cost more than it gains. */
  private static final int SPINS_BEFORE_YIELD = 256;

  private static final int PART_BITS = 20;
  private static final long PART_MASK = (1L << PART_BITS) - 1;

  static final int MAX_PARTS = (int) PART_MASK;

  private final Thread[] threads;
  private final ReentrantLock callers = new ReentrantLock();

  /**
   * {@code generation (24) | parts (20) | next part (20)} in one word, so that one atomic operation
   * claims a part consistently.
   */
  private final AtomicLong ticket = new AtomicLong();

  private final AtomicInteger finished = new AtomicInteger();
  private final AtomicInteger asleep = new AtomicInteger();
  private volatile WorkerPool.ParallelTask task;
  private volatile Throwable failure;
  private volatile boolean closed;

  WorkerThreads(int size) {
    if (size < 1) {
      throw new IllegalArgumentException("size is %d; expected at least 1".formatted(size));
    }
    threads = new Thread[size - 1];
    for (int i = 0; i < threads.length; i++) {
      int worker = i + 1;
      threads[i] =
          Thread.ofPlatform()
              .daemon()
              .name("kvasir-worker-" + worker)
              .start(() -> workerLoop(worker));
    }
  }

  int size() {
    return threads.length + 1;
  }

  void run(WorkerPool.ParallelTask newTask, int parts) {
    if (parts > MAX_PARTS) {
      throw new IllegalArgumentException(
          "parts is %d; expected at most %d".formatted(parts, MAX_PARTS));
    }
    // A part that runs a task itself is a second caller, although the lock is reentrant.
    if (parts <= 1
        || threads.length == 0
        || callers.isHeldByCurrentThread()
        || !callers.tryLock()) {
      for (int part = 0; part < parts; part++) {
        newTask.run(part, 0);
      }
      return;
    }
    try {
      failure = null;
      task = newTask;
      finished.set(0);
      long generation = (ticket.get() >>> 2 * PART_BITS) + 1;
      ticket.set(generation << 2 * PART_BITS | (long) parts << PART_BITS);
      wakeSleepers();
      claimParts(0);
      for (int waited = 1; finished.get() < parts; waited++) {
        pause(waited);
      }
      rethrow(failure);
    } finally {
      task = null;
      callers.unlock();
    }
  }

  /**
   * Spins, and yields at intervals. When there are more runnable threads than processors, the
   * awaited thread may need this one: for example the JIT compiler in a fresh process.
   */
  private static void pause(int waited) {
    if (waited % SPINS_BEFORE_YIELD == 0) {
      Thread.yield();
    } else {
      Thread.onSpinWait();
    }
  }

  private void wakeSleepers() {
    if (asleep.get() > 0) {
      for (Thread thread : threads) {
        LockSupport.unpark(thread);
      }
    }
  }

  /** Claims and runs parts until none is left. Returns whether it ran any. */
  private boolean claimParts(int worker) {
    boolean any = false;
    while (true) {
      long seen = ticket.get();
      long next = seen & PART_MASK;
      if (next >= (seen >>> PART_BITS & PART_MASK)) {
        return any;
      }
      if (!ticket.compareAndSet(seen, seen + 1)) {
        continue;
      }
      any = true;
      // The claimed part is unfinished, so the caller waits and the task field cannot change.
      try {
        task.run((int) next, worker);
      } catch (Throwable e) { // rethrown by the caller, which would otherwise wait forever
        failure = e;
      } finally {
        finished.incrementAndGet();
      }
    }
  }

  private void workerLoop(int worker) {
    int idle = 0;
    while (!closed) {
      if (claimParts(worker)) {
        idle = 0;
      } else if (++idle < SPINS_BEFORE_SLEEP) {
        pause(idle);
      } else {
        sleep();
        idle = 0;
      }
    }
  }

  private void sleep() {
    asleep.incrementAndGet();
    // A task submitted between the last check and the increment would find no sleeper to wake.
    long seen = ticket.get();
    if ((seen & PART_MASK) >= (seen >>> PART_BITS & PART_MASK) && !closed) {
      LockSupport.park(this);
    }
    asleep.decrementAndGet();
  }

  private static void rethrow(Throwable failure) {
    switch (failure) {
      case null -> {}
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalStateException(failure);
    }
  }

  void close() {
    closed = true;
    for (Thread thread : threads) {
      LockSupport.unpark(thread);
    }
  }
}
