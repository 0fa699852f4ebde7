package dev.kvasir.simd;

import dev.kvasir.contract.KernelContract;

/** With 16-bit lanes of 256 bits, whatever the machine has. */
class WideVectorKernelsTest extends KernelContract {
  WideVectorKernelsTest() {
    super(VectorWidth.lanes(), new VectorKernels(true));
  }
}
