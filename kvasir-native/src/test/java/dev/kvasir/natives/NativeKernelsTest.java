package dev.kvasir.natives;

import dev.kvasir.contract.KernelContract;

class NativeKernelsTest extends KernelContract {
  NativeKernelsTest() {
    super(lanes(), new NativeKernels());
  }

  private static int lanes() {
    return new NativeKernelProvider().lanes();
  }
}
