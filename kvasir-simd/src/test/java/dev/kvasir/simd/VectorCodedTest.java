package dev.kvasir.simd;

import dev.kvasir.contract.CodedContract;

class VectorCodedTest extends CodedContract {
  VectorCodedTest() {
    super(VectorWidth.lanes(), new VectorKernels(false));
  }
}
