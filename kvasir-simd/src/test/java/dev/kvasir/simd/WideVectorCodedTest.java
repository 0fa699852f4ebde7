package dev.kvasir.simd;

import dev.kvasir.contract.CodedContract;

/** With 16-bit lanes of 256 bits, whatever the machine has. */
class WideVectorCodedTest extends CodedContract {
  WideVectorCodedTest() {
    super(VectorWidth.lanes(), new VectorKernels(true));
  }
}
