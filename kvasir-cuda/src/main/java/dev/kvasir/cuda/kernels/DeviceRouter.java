package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;

/**
 * What a layer's experts are chosen by, as floats on a device.
 *
 * @param weights of the logits, and those of the shared expert's gate as another row, if it has one
 *     // (experts, hidden)
 * @param bias of the logits // (experts); null if there is none
 * @param correction added to scores for the choice alone // (experts); null if there is none
 */
record DeviceRouter(DeviceMemory weights, DeviceMemory bias, DeviceMemory correction)
    implements AutoCloseable {
  long bytes() {
    return DeviceMatrix.bytes(weights) + DeviceMatrix.bytes(bias) + DeviceMatrix.bytes(correction);
  }

  @Override
  public void close() {
    Resources.closeAll(weights, bias, correction);
  }
}
