package dev.kvasir.natives;

import dev.kvasir.contract.LookupContract;
import dev.kvasir.kernel.ScalarKernels;

class NativeLookupsTest extends LookupContract {
  NativeLookupsTest() {
    super(new NativeKernels(new ScalarKernels()));
  }
}
