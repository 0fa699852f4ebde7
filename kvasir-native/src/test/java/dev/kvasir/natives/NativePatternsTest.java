package dev.kvasir.natives;

import dev.kvasir.contract.PatternContract;

class NativePatternsTest extends PatternContract {
  NativePatternsTest() {
    super(new NativeKernels());
  }
}
