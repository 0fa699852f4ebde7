package dev.kvasir.cli.arguments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.spi.EngineProvider.DeviceDescription;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class DeviceArgumentsTest {
  private static final List<DeviceDescription> GPUS =
      List.of(new DeviceDescription("a", 24L << 30), new DeviceDescription("b", 16L << 30));

  /** A GPU may have several ranges of layers; its memory is there once. */
  @Test
  void memoryOfNamedGpusIsAddedOnce() {
    assertThat(DeviceArguments.memoryBytes(List.of(1), GPUS)).hasValue(16L << 30);
    assertThat(DeviceArguments.memoryBytes(List.of(0, 1), GPUS)).hasValue(40L << 30);
    assertThat(DeviceArguments.memoryBytes(List.of(0, 0), GPUS)).hasValue(24L << 30);
    assertThat(DeviceArguments.memoryBytes(List.of(2), GPUS)).isEqualTo(OptionalLong.empty());
  }
}
