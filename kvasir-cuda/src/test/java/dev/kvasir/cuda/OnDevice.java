package dev.kvasir.cuda;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A test that needs a device, which it has opened, and gives all of it back. */
@NeedsDevice
abstract class OnDevice {
  OpenDevice device;

  @BeforeEach
  void openDevice() {
    device = OpenDevice.open();
  }

  @AfterEach
  void closeDevice() {
    if (device != null) {
      device.close();
    }
  }
}
