package dev.kvasir.template;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/**
 * Runs a recursion on the caller's stack while it is shallow, and on a large stack otherwise.
 *
 * <p>Parsing and rendering recurse up to the bounds of {@link TokenStream} and {@link Budget}.
 * While the virtual machine still interprets the methods, that takes more than half a MiB, which a
 * caller may not have. Catching a {@link StackOverflowError} instead is not safe: one inside a
 * static initializer leaves its class unusable for the rest of the process.
 */
final class LargeStack {
  /** Ten times what the deepest template takes while its methods are interpreted. */
  private static final long BYTES = 16L << 20;

  private LargeStack() {}

  /**
   * Returns the result of {@code recursion}, or throws what it throws. It starts over on the large
   * stack if it calls {@link #ensureCapacity}, so it must have no effect but its result.
   */
  static <T> T call(Supplier<T> recursion) {
    try {
      return recursion.get();
    } catch (Required _) {
      return onLargeStack(recursion);
    }
  }

  /** Called by a recursion that is about to take more of the stack than any caller can spare. */
  static void require() {
    if (!(Thread.currentThread() instanceof Deep)) {
      throw new Required();
    }
  }

  /** The caller waits for the end, even if it is interrupted: a {@link Budget} bounds the time. */
  private static <T> T onLargeStack(Supplier<T> recursion) {
    var task = new FutureTask<>(recursion::get);
    new Deep(task).start();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return task.get();
        } catch (InterruptedException _) {
          interrupted = true;
        }
      }
    } catch (ExecutionException failure) {
      throw thrown(failure.getCause());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static RuntimeException thrown(Throwable cause) {
    if (cause instanceof Error error) {
      throw error;
    }
    return (RuntimeException) cause;
  }

  private static final class Deep extends Thread {
    Deep(Runnable task) {
      super(null, task, "kvasir-template", BYTES, false);
      setDaemon(true);
    }
  }

  private static final class Required extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Required() {
      super(null, null, false, false);
    }
  }
}
