package dev.kvasir.cuda.driver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Base class of tests that need a device; all of its memory must be freed. */
@NeedsDevice
public abstract class DeviceTestCase {
  public DeviceFixture device;

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
