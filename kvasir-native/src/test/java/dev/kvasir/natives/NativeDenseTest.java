package dev.kvasir.natives;

import dev.kvasir.contract.DenseContract;

class NativeDenseTest extends DenseContract {
  NativeDenseTest() {
    super(new NativeKernels());
  }
}
