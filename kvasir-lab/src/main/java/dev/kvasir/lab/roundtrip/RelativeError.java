package dev.kvasir.lab.roundtrip;

/** {@code ||found - expected|| / ||expected||}, Frobenius norms, over values as they come. */
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

  /** Zero where nothing differs, also from nothing. */
  double value() {
    return difference == 0 ? 0 : Math.sqrt(difference / norm);
  }
}
