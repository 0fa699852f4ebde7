package dev.kvasir.cli.setup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import dev.kvasir.spi.EngineProvider.DeviceDescription;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorTest {
  @TempDir Path folder;

  @Test
  void everyLineSaysWhetherAllIsWell() {
    String out = CommandRun.of("doctor").succeeds().out();
    assertThat(out)
        .contains("Java", "processors", "kernels", "GPU", "memory", "page size", "model")
        .contains("downloads", "sessions", "kvasir-mini is bundled");
    assertThat(out.lines()).allMatch(line -> line.matches("(ok  |warn|      | *\\d+ w|All is).*"));
  }

  @Test
  void littleMemoryIsAWarningWithAdvice() {
    Check little = MachineChecks.memory(OptionalLong.of(8L << 30), OptionalLong.of(1L << 30));
    assertThat(little.isOk()).isFalse();
    assertThat(little.finding()).startsWith("1.0 GiB free of 8.0 GiB");
    assertThat(little.advice()).hasValueSatisfying(text -> assertThat(text).contains("--kv"));
    Check enough = MachineChecks.memory(OptionalLong.of(8L << 30), OptionalLong.of(4L << 30));
    assertThat(enough.isOk()).isTrue();
    Check unknown = MachineChecks.memory(OptionalLong.empty(), OptionalLong.empty());
    assertThat(unknown.finding()).contains("unknown");
  }

  @Test
  void gpusAreListedWithTheirMemory() {
    DeviceDescription gpu = new DeviceDescription("NVIDIA L4", 24L << 30);
    assertThat(MachineChecks.gpus(List.of(gpu)).finding())
        .isEqualTo("NVIDIA L4 with 24.0 GiB; --device auto uses it where it can");
    assertThat(MachineChecks.gpus(List.of(gpu, gpu)).finding())
        .startsWith("NVIDIA L4 with 24.0 GiB, NVIDIA L4 with 24.0 GiB; ")
        .contains("cuda:0,cuda:1");
  }

  @Test
  void aFolderThatCannotBeMadeIsAWarning() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "in the way");
    assertThat(MachineChecks.folder("sessions", file.resolve("below"), "KVASIR_HOME").advice())
        .hasValueSatisfying(text -> assertThat(text).contains("KVASIR_HOME"));
    assertThat(MachineChecks.folder("sessions", folder.resolve("a/b"), "KVASIR_HOME").finding())
        .contains("made when needed");
  }
}
