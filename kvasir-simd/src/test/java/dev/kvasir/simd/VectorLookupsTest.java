package dev.kvasir.simd;

import dev.kvasir.contract.LookupContract;

class VectorLookupsTest extends LookupContract {
  VectorLookupsTest() {
    super(new VectorKernels());
  }
}
