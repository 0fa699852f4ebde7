package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;

/**
 * The biases of routed experts.
 *
 * @param gateAndUp // (experts, 2 * width)
 * @param down // (experts, hidden)
 */
record ExpertBiases(DeviceMemory gateAndUp, DeviceMemory down) implements AutoCloseable {
  long bytes() {
    return gateAndUp.bytes() + down.bytes();
  }

  @Override
  public void close() {
    Resources.closeAll(gateAndUp, down);
  }
}
