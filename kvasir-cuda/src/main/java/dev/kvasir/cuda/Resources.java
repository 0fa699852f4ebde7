package dev.kvasir.cuda;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Gives back what was taken, the last first; what fails keeps nothing else from being given. */
final class Resources {
  private Resources() {}

  /** Leaves the list empty; throws what failed first, with the others as suppressed. */
  static void closeAll(List<AutoCloseable> resources) {
    List<AutoCloseable> lastFirst = List.copyOf(resources).reversed();
    resources.clear();
    Throwable failure = null;
    for (AutoCloseable each : lastFirst) {
      failure = closed(each, failure);
    }
    if (failure != null) {
      throw Driver.unexpected(failure); // none of them throws a checked one
    }
  }

  /** The same of a few, in the order of arguments; null for none. */
  static void closeAll(AutoCloseable... resources) {
    List<AutoCloseable> present = new ArrayList<>(Arrays.asList(resources).reversed());
    present.removeIf(Objects::isNull);
    closeAll(present);
  }

  /** An arena that may be closed again. */
  static AutoCloseable closeOnce(Arena arena) {
    return () -> {
      if (arena.scope().isAlive()) {
        arena.close();
      }
    };
  }

  /** Closes what a failure has left half made, and does not hide that failure by another one. */
  static void closeAfter(Throwable failure, AutoCloseable resource) {
    closed(resource, failure);
  }

  /** The failure before, or else that of closing this. */
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
