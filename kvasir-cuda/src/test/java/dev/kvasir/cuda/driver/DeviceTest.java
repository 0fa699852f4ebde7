package dev.kvasir.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeviceTest {
  @Test
  void aMissingDeviceIsExplained() {
    assumeTrue(Device.unavailableReason().isPresent(), "there is a device");
    assertThat(Device.all()).isEmpty();
    assertThatThrownBy(CudaContext::open)
        .isInstanceOf(DeviceException.class)
        .hasMessage(Device.unavailableReason().orElseThrow());
    assertThatThrownBy(CudaStream::open).isInstanceOf(DeviceException.class);
  }

  @Test
  @NeedsDevice
  void aDeviceIsDescribed() {
    Device device = Device.first();
    assertThat(device.name()).isNotBlank();
    assertThat(device.computeCapability()).isGreaterThanOrEqualTo(50);
    assertThat(device.multiprocessors()).isPositive();
    assertThat(device.sharedMemoryBytes()).isGreaterThanOrEqualTo(48 << 10);
    assertThat(device.memoryBytes()).isGreaterThan(1 << 30);
  }

  @ParameterizedTest
  @CsvSource({
    "80, AMPERE",
    "86, AMPERE",
    "87, AMPERE",
    "89, ADA",
    "90, HOPPER",
    "100, PORTABLE",
    "103, PORTABLE",
    "120, PORTABLE"
  })
  void imagesMatchTheComputeCapability(int computeCapability, KernelImage image) {
    assertThat(KernelImage.of(device(computeCapability))).isEqualTo(image);
  }

  @Test
  void oldDevicesAreRejected() {
    assertThatThrownBy(() -> KernelImage.of(device(75)))
        .isInstanceOf(DeviceException.class)
        .hasMessage("Some Card is of generation 7.5; expected 8.0 or later");
  }

  private static Device device(int computeCapability) {
    return new Device(0, "Some Card", computeCapability, 100, 100 << 10, 1 << 20, 1L << 33);
  }
}
