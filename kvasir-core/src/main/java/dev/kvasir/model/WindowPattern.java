package dev.kvasir.model;

/** How far back each layer looks. */
@FunctionalInterface
public interface WindowPattern {
  int UNBOUNDED = Integer.MAX_VALUE;

  /** Every layer sees everything before it. */
  WindowPattern FULL = layer -> UNBOUNDED;

  /** Positions that a query of that layer sees, itself included. */
  int of(int layer);
}
