package dev.kvasir.spark;

import dev.kvasir.lab.work.TaskInputs;
import dev.kvasir.lab.work.WorkerContext;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What this process has opened, once for all pieces of the same materials. An executor keeps it as
 * long as it lives, which is as long as its job does.
 */
final class ExecutorContexts {
  private static final Map<TaskInputs, WorkerContext> OPEN = new HashMap<>();

  private static final Set<TaskInputs> CLOSING = ConcurrentHashMap.newKeySet();

  /** Held for reading by every piece that runs, so that nothing is closed under it. */
  private static final ReadWriteLock BUSY = new ReentrantReadWriteLock();

  private ExecutorContexts() {}

  /** Runs something with what materials make, which the first to come opens. */
  static <T> T runWith(
      TaskInputs inputs, Supplier<WorkerContext> opening, Function<WorkerContext, T> work) {
    BUSY.readLock().lock();
    try {
      return work.apply(opened(inputs, opening));
    } finally {
      BUSY.readLock().unlock();
    }
  }

  private static synchronized WorkerContext opened(
      TaskInputs inputs, Supplier<WorkerContext> opening) {
    return OPEN.computeIfAbsent(inputs, any -> opening.get());
  }

  /** Lets pieces that run in this process use what is open already. */
  static synchronized void register(TaskInputs inputs, WorkerContext context) {
    CLOSING.remove(inputs);
    OPEN.put(inputs, context);
  }

  /** Whether somebody waits for pieces to leave; Spark itself tells no piece when it ends. */
  static boolean isClosing(TaskInputs inputs) {
    return CLOSING.contains(inputs);
  }

  /** Takes it back as soon as the last piece has left. */
  static void release(TaskInputs inputs) {
    CLOSING.add(inputs);
    BUSY.writeLock().lock();
    try {
      remove(inputs);
    } finally {
      BUSY.writeLock().unlock();
    }
  }

  private static synchronized void remove(TaskInputs inputs) {
    OPEN.remove(inputs);
  }
}
