package dev.kvasir.lab.forecast;

/**
 * Kinds of arithmetic, each of which has a speed of its own. Where only one speed of a machine is
 * known, which is taken for that of reading, the others are these parts of it, as on two threads of
 * an x86-64 machine with the bundled model.
 */
public enum ComputeKind {
  /** The engine reads or makes up text, with activations of bytes. */
  READING(1),
  /** A decoder over a whole text in 32-bit floats, there and back. */
  TRACING(0.5),
  /** A codebook of a head, on one thread. */
  TRAINING(0.15),
  /** Sums of squares and products in 64-bit floats. */
  FITTING(0.15);

  private final double relativeSpeed;

  ComputeKind(double ofReading) {
    this.relativeSpeed = ofReading;
  }

  double relativeSpeed() {
    return relativeSpeed;
  }
}
