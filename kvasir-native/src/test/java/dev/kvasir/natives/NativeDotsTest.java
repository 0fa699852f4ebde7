package dev.kvasir.natives;

import dev.kvasir.contract.DotContract;

class NativeDotsTest extends DotContract {
  NativeDotsTest() {
    super(new NativeKernels());
  }
}
