package dev.kvasir.simd;

import jdk.incubator.vector.FloatVector;

/** How wide the machine's vectors are; loaded only once the module is known to be there. */
final class VectorWidth {
  private VectorWidth() {}

  static int bits() {
    return FloatVector.SPECIES_PREFERRED.vectorBitSize();
  }
}
