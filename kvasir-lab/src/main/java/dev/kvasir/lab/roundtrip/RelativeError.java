package dev.kvasir.lab.roundtrip;

/**
 * Accumulates the relative error {@code ||found - expected|| / ||expected||} in Frobenius norms.
 */
final class RelativeError {
  private double difference;
  private double norm;

  void add(double found, double expected) {
    difference += (found - expected) * (found - expected);
    norm += expected * expected;
  }

  void add(float[] found, float[] expected) {
    for (int i = 0; i < found.length; i++) {
      add(found[i], expected[i]);
    }
  }

  /** Returns zero if nothing differs, even if everything is zero. */
  double value() {
    return difference == 0 ? 0 : Math.sqrt(difference / norm);
  }
}
