package dev.kvasir.model;

/** How far back each layer looks. */
@FunctionalInterface
public interface WindowPattern {
  int UNBOUNDED = Integer.MAX_VALUE;

  /** Every layer sees everything before it. */
  WindowPattern FULL = layer -> UNBOUNDED;

  /**
   * A window in all but the last of so many layers, and of the next so many.
   *
   * @param period 0 for a window in every layer
   */
  static WindowPattern exceptEvery(int period, int window) {
    return layer -> period == 0 || layer % period < period - 1 ? window : UNBOUNDED;
  }

  /** Whether that layer does not see everything before it. */
  default boolean isLocal(int layer) {
    return of(layer) != UNBOUNDED;
  }

  /** Positions that a query of that layer sees, itself included. */
  int of(int layer);
}
