package dev.kvasir.cuda;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A test that needs a device, which it has opened, and gives all of it back. */
@NeedsDevice
abstract class DeviceTestCase {
  DeviceFixture device;

  @BeforeEach
  void openDevice() {
    device = DeviceFixture.open();
  }

  @AfterEach
  void closeDevice() {
    if (device != null) {
      device.close();
    }
  }
}
