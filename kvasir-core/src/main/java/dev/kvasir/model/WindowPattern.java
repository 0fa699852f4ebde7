package dev.kvasir.model;

/** The sliding window of each layer. */
@FunctionalInterface
public interface WindowPattern {
  int UNBOUNDED = Integer.MAX_VALUE;

  /** No window in any layer. */
  WindowPattern FULL = layer -> UNBOUNDED;

  /**
   * Returns a window in all but the last of every {@code period} layers.
   *
   * @param period 0 for a window in every layer
   */
  static WindowPattern exceptEvery(int period, int window) {
    return layer -> period == 0 || layer % period < period - 1 ? window : UNBOUNDED;
  }

  /** Returns the windows of the layers from one on. */
  default WindowPattern from(int first) {
    return this == FULL ? FULL : layer -> of(first + layer);
  }

  /** Returns whether a layer has a window. */
  default boolean isLocal(int layer) {
    return of(layer) != UNBOUNDED;
  }

  /** Returns the number of positions that a query of a layer sees, including its own. */
  int of(int layer);
}
