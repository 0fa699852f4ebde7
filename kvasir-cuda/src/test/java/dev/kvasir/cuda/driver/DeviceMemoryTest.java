package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Device memory is counted and freed. */
class DeviceMemoryTest extends DeviceTestCase {
  @Test
  void uploadedBytesAreDownloaded() {
    MemorySegment source = device.host(1000);
    for (int i = 0; i < 1000; i++) {
      source.set(JAVA_BYTE, i, (byte) (7 * i));
    }
    DeviceMemory first = device.upload(source);
    DeviceMemory second = device.memory(1000);
    second.copy(device.stream, 0, first);
    assertThat(device.download(second).mismatch(source)).isEqualTo(-1);
  }

  @Test
  void memoryIsCountedUntilItIsClosed() {
    long free = device.context.freeBytes();
    try (DeviceMemory memory = device.context.allocate(512 << 20)) {
      assertThat(device.context.allocatedBytes()).isEqualTo(memory.bytes());
      assertThat(device.context.freeBytes()).isLessThan(free);
    }
    assertThat(device.context.allocatedBytes()).isZero();
    assertThat(device.context.freeBytes()).isEqualTo(free);
  }

  @Test
  void closingTheContextFreesItsMemory() {
    CudaContext other = CudaContext.open(device.context.device());
    other.allocate(1 << 20);
    assertThat(other.allocatedBytes()).isEqualTo(1 << 20);
    other.close();
    assertThat(other.allocatedBytes()).isZero();
  }

  @Test
  void oversizedAllocationsFailWithoutEffect() {
    long wanted = device.context.device().memoryBytes() + 1;
    assertThatThrownBy(() -> device.context.allocate(wanted))
        .isInstanceOf(DeviceException.class)
        .hasMessageContaining(device.context.device().name())
        .hasMessageContaining("bytes free; %,d were requested".formatted(wanted));
    assertThat(device.context.allocatedBytes()).isZero();
    device.context.allocate(1 << 20).close();
  }

  @Test
  void copiesBeyondTheEndAreRejected() {
    DeviceMemory memory = device.memory(100);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = arena.allocate(200);
      assertThatThrownBy(() -> memory.upload(device.stream, 50, source, 51))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage("51 bytes at 50; expected within 100");
    }
  }

  @Test
  void failedCallsReportCudasErrorName() {
    assertThatThrownBy(() -> device.module.kernel("no_such_kernel"))
        .isInstanceOf(CudaException.class)
        .hasMessage(
            "cuModuleGetFunction of no_such_kernel: CUDA_ERROR_NOT_FOUND (500), named symbol not"
                + " found");
  }

  @Test
  void kernelsRunFromEveryCompatibleImage() {
    try (KernelModule portable = KernelModule.load(device.context, KernelImage.PORTABLE)) {
      new Launch(portable.kernel("nothing")).on(device.stream);
      device.stream.synchronize();
    }
  }
}
