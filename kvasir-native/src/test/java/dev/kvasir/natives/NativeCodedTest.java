package dev.kvasir.natives;

import dev.kvasir.contract.CodedContract;

class NativeCodedTest extends CodedContract {
  NativeCodedTest() {
    super(new NativeKernelProvider().lanes(), new NativeKernels());
  }
}
