package dev.kvasir.natives;

import dev.kvasir.contract.KernelContract;

class NativeKernelsTest extends KernelContract {
  NativeKernelsTest() {
    super(new NativeKernels());
  }
}
