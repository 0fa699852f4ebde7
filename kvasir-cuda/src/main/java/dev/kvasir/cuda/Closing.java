package dev.kvasir.cuda;

import java.util.List;

/** Gives back what was taken, the last first. */
final class Closing {
  private Closing() {}

  /** Leaves the list empty. */
  static void all(List<AutoCloseable> taken) {
    try {
      for (AutoCloseable each : taken.reversed()) {
        each.close();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e); // none of them throws a checked one
    }
    taken.clear();
  }
}
