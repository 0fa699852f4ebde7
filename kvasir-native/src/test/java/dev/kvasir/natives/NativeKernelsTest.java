package dev.kvasir.natives;

import dev.kvasir.contract.KernelContract;
import dev.kvasir.kernel.ScalarKernels;

class NativeKernelsTest extends KernelContract {
  NativeKernelsTest() {
    super(lanes(), new NativeKernels(new ScalarKernels(lanes())));
  }

  private static int lanes() {
    return new NativeKernelProvider().lanes();
  }
}
