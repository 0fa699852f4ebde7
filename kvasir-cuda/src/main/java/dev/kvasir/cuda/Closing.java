package dev.kvasir.cuda;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Gives back what was taken, the last first; what fails keeps nothing else from being given. */
final class Closing {
  private Closing() {}

  /** Leaves the list empty; throws what failed first, with the others as suppressed. */
  static void all(List<AutoCloseable> taken) {
    List<AutoCloseable> lastFirst = List.copyOf(taken).reversed();
    taken.clear();
    Throwable failure = null;
    for (AutoCloseable each : lastFirst) {
      failure = closed(each, failure);
    }
    if (failure != null) {
      throw Driver.unexpected(failure); // none of them throws a checked one
    }
  }

  /** The same of a few, in the order of arguments; null for none. */
  static void all(AutoCloseable... few) {
    List<AutoCloseable> there = new ArrayList<>(Arrays.asList(few).reversed());
    there.removeIf(Objects::isNull);
    all(there);
  }

  /** An arena that may be closed again. */
  static AutoCloseable once(Arena arena) {
    return () -> {
      if (arena.scope().isAlive()) {
        arena.close();
      }
    };
  }

  /** Closes what a failure has left half made, and does not hide that failure by another one. */
  static void after(Throwable failure, AutoCloseable half) {
    closed(half, failure);
  }

  /** The failure before, or else that of closing this. */
  private static Throwable closed(AutoCloseable each, Throwable before) {
    try {
      each.close();
      return before;
    } catch (Throwable e) {
      if (before == null) {
        return e;
      }
      if (e != before) {
        before.addSuppressed(e);
      }
      return before;
    }
  }
}
