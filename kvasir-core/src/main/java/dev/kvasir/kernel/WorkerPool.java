package dev.kvasir.kernel;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that do parts of a piece of work together with the caller. A decoder step hands out some
 * fifty pieces of a few microseconds, so waiting workers spin before they sleep, parts are claimed
 * by one atomic step, and nothing is allocated.
 *
 * <p>Only one caller at a time has the workers; another one does its parts alone meanwhile, which
 * is slower and never wrong.
 */
public final class WorkerPool implements AutoCloseable {
  /** Work that falls into independent parts. */
  public interface ParallelTask {
    /**
     * @param part which part, each handed out once
     * @param worker who does it, below {@link WorkerPool#budgetSize()}: a place for scratch memory
     *     that no one else uses at the same time
     */
    void run(int part, int worker);
  }

  /** Some 50 microseconds: longer than the gap between two pieces, shorter than a wake-up hurts. */
  private static final int SPINS_BEFORE_SLEEP = 4_000;

  /** Some microseconds: what a processor is given away for must be worth it. */
  private static final int SPINS_BEFORE_YIELD = 256;

  private static final int PART_BITS = 20;
  private static final long PART_MASK = (1L << PART_BITS) - 1;

  /** Parts of a piece of work at the most. */
  public static final int MAX_PARTS = (int) PART_MASK;

  private final Thread[] threads;
  private final ReentrantLock callers = new ReentrantLock();

  /**
   * {@code generation (24) | parts (20) | next part (20)}, so that one step claims consistently.
   */
  private final AtomicLong ticket = new AtomicLong();

  private final AtomicInteger finished = new AtomicInteger();
  private final AtomicInteger asleep = new AtomicInteger();
  private volatile ParallelTask task;
  private volatile Throwable failure;
  private volatile boolean closed;

  public WorkerPool(int size) {
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

  /** The caller and its workers. */
  public int size() {
    return threads.length + 1;
  }

  /** Runs every part and returns when all are done. An exception in a part is thrown here. */
  public void run(ParallelTask newTask, int parts) {
    if (parts > MAX_PARTS) {
      throw new IllegalArgumentException(
          "parts is %d; expected at most %d".formatted(parts, MAX_PARTS));
    }
    // A part that runs a piece of its own is a second caller, though the lock would let it in.
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
   * Where more threads want to run than there are processors, the one that is waited for may be
   * among those that wait for one: the compiler's, in a fresh process, or a neighbour's.
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

  /** Claims and does parts until none is left; answers whether there was any. */
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
      // The claimed part is unfinished, so the caller waits and the work cannot change under us.
      try {
        task.run((int) next, worker);
      } catch (Throwable e) { // handed to the caller, who would otherwise wait forever
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
    // A piece handed out between the last look and the count above would find no sleeper to wake.
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

  @Override
  public void close() {
    closed = true;
    for (Thread thread : threads) {
      LockSupport.unpark(thread);
    }
  }
}
