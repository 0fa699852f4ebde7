package dev.kvasir.simd;

import dev.kvasir.contract.KernelContract;

class VectorKernelsTest extends KernelContract {
  VectorKernelsTest() {
    super(VectorWidth.lanes(), new VectorKernels());
  }
}
