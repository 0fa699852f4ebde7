package dev.kvasir.simd;

import jdk.incubator.vector.FloatVector;

/** How wide the machine's vectors are; loaded only once the module is known to be there. */
final class VectorWidth {
  private VectorWidth() {}

  /** Floats of a vector. */
  static int lanes() {
    return FloatVector.SPECIES_PREFERRED.length();
  }

  static int bits() {
    return FloatVector.SPECIES_PREFERRED.vectorBitSize();
  }
}
