package dev.kvasir.simd;

import dev.kvasir.contract.RowCodesContract;

class VectorRowCodesTest extends RowCodesContract {
  VectorRowCodesTest() {
    super(VectorWidth.lanes(), new VectorKernels());
  }
}
