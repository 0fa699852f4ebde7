package dev.kvasir.natives;

import dev.kvasir.contract.LookupContract;

class NativeLookupsTest extends LookupContract {
  NativeLookupsTest() {
    super(new NativeKernels());
  }
}
