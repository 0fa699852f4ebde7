package dev.kvasir.simd;

import dev.kvasir.contract.DenseContract;

class VectorDenseTest extends DenseContract {
  VectorDenseTest() {
    super(VectorWidth.lanes(), new VectorKernels());
  }
}
