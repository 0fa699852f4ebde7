package dev.kvasir.lab.forecast;

/**
 * Kinds of computation with different speeds. If only one speed of a machine is known, it is taken
 * as that of reading; the others are fractions of it, measured on two threads of an x86-64 machine
 * with the bundled model.
 */
public enum ComputeKind {
  /** The engine reads or generates text, with activations quantized to bytes. */
  READING(1),
  /** A decoder in 32-bit floats over a whole text, forward and backward. */
  TRACING(0.5),
  /** Products of gradients with transposed weights, in 32-bit floats. */
  BACKWARD(0.5),
  /** Training a head's codebook, on one thread. */
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
