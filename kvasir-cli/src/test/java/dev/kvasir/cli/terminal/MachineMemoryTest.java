package dev.kvasir.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineMemoryTest {
  @TempDir Path folder;

  @Test
  void linuxStatesKibibytes() {
    List<String> lines = List.of("MemTotal:       24564 kB", "MemAvailable:    1000 kB");
    assertThat(MachineMemory.meminfo(lines, "MemTotal")).hasValue(24564L << 10);
    assertThat(MachineMemory.meminfo(lines, "MemAvailable")).hasValue(1000L << 10);
    assertThat(MachineMemory.meminfo(lines, "SwapTotal")).isEmpty();
  }

  @Test
  void aContainerMayHaveALimit() throws IOException {
    assertThat(MachineMemory.limit(folder)).isEmpty();
    Path file = Files.writeString(folder.resolve("memory.max"), "max\n");
    assertThat(MachineMemory.limit(folder)).isEmpty();
    Files.writeString(file, "1073741824\n");
    assertThat(MachineMemory.limit(folder)).hasValue(1L << 30);
  }

  @Test
  void noMoreIsAvailableThanThereIs() {
    MachineMemory.available()
        .ifPresent(free -> assertThat(free).isLessThanOrEqualTo(MachineMemory.total().getAsLong()));
  }
}
