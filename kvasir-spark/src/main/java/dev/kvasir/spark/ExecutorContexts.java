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
 * The contexts that this process has opened, one for each set of inputs. An executor keeps them for
 * its lifetime, which is that of its job.
 */
final class ExecutorContexts {
  private static final Map<TaskInputs, WorkerContext> OPEN = new HashMap<>();

  private static final Set<TaskInputs> CLOSING = ConcurrentHashMap.newKeySet();

  /** Every running task holds the read lock, so that no context is closed while in use. */
  private static final ReadWriteLock BUSY = new ReentrantReadWriteLock();

  private ExecutorContexts() {}

  /** Runs a function with the context of some inputs, opening it on first use. */
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

  /** Makes an open context available to tasks that run in this process. */
  static synchronized void register(TaskInputs inputs, WorkerContext context) {
    CLOSING.remove(inputs);
    OPEN.put(inputs, context);
  }

  /**
   * Returns whether tasks should stop because the context is being released; Spark does not notify
   * tasks when it shuts down.
   */
  static boolean isClosing(TaskInputs inputs) {
    return CLOSING.contains(inputs);
  }

  /** Removes a context once the last task using it has finished. */
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
