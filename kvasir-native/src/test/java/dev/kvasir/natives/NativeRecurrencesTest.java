package dev.kvasir.natives;

import dev.kvasir.contract.RecurrenceContract;

class NativeRecurrencesTest extends RecurrenceContract {
  NativeRecurrencesTest() {
    super(new NativeKernels());
  }
}
