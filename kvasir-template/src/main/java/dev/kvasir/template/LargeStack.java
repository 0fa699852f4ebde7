package dev.kvasir.template;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/**
 * Runs a recursion on the caller's stack while it is shallow, and on a large stack otherwise.
 *
 * <p>Parsing and rendering recurse up to the limits of {@link TokenStream} and {@link
 * RenderBudget}. Before JIT compilation, that takes more than half a MiB, which a caller may not
 * have. Catching a {@link StackOverflowError} instead is not safe: in a static initializer it
 * leaves the class unusable for the rest of the process.
 */
final class LargeStack {
  /** Ten times what the deepest template takes before JIT compilation. */
  private static final long BYTES = 16L << 20;

  private LargeStack() {}

  /**
   * Returns the result of {@code recursion}, or throws its exception. The recursion restarts on the
   * large stack if it calls {@link #require}, so it must have no side effects.
   */
  static <T> T call(Supplier<T> recursion) {
    try {
      return recursion.get();
    } catch (Required _) {
      return onLargeStack(recursion);
    }
  }

  /** Called by a recursion before it takes more stack than a caller may have. */
  static void require() {
    if (!(Thread.currentThread() instanceof Deep)) {
      throw new Required();
    }
  }

  /**
   * The caller waits for the end, even if it is interrupted: a {@link RenderBudget} limits the
   * time.
   */
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
