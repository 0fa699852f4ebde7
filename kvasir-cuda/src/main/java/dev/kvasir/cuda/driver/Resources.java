package dev.kvasir.cuda.driver;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Closes groups of resources in reverse order. A failure does not stop the others from being
 * closed.
 */
public final class Resources {
  private Resources() {}

  /**
   * Closes all resources, last first, and empties the list. Throws the first failure; later ones
   * are added as suppressed.
   */
  public static void closeAll(List<AutoCloseable> resources) {
    List<AutoCloseable> lastFirst = List.copyOf(resources).reversed();
    resources.clear();
    Throwable failure = null;
    for (AutoCloseable each : lastFirst) {
      failure = closed(each, failure);
    }
    if (failure != null) {
      throw Driver.unexpected(failure); // none of them throws a checked exception
    }
  }

  /** Closes resources in argument order, skipping nulls. */
  public static void closeAll(AutoCloseable... resources) {
    List<AutoCloseable> present = new ArrayList<>(Arrays.asList(resources).reversed());
    present.removeIf(Objects::isNull);
    closeAll(present);
  }

  /** Returns a resource that closes the arena once and ignores further calls. */
  public static AutoCloseable closeOnce(Arena arena) {
    return () -> {
      if (arena.scope().isAlive()) {
        arena.close();
      }
    };
  }

  /**
   * Closes a partially built resource after a failure. A further failure is added as suppressed.
   */
  public static void closeAfter(Throwable failure, AutoCloseable resource) {
    closed(resource, failure);
  }

  /** Closes a resource and returns the earlier failure, or its own if there was none. */
  private static Throwable closed(AutoCloseable each, Throwable earlier) {
    try {
      each.close();
      return earlier;
    } catch (Throwable e) {
      if (earlier == null) {
        return e;
      }
      if (e != earlier) {
        earlier.addSuppressed(e);
      }
      return earlier;
    }
  }
}
