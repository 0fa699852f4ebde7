package dev.kvasir.simd;

import dev.kvasir.contract.DotContract;

class VectorDotsTest extends DotContract {
  VectorDotsTest() {
    super(new VectorKernels());
  }
}
