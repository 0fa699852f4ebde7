package dev.kvasir.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A mapped file that is truncated ends requests with an error, and not the process. */
@Timeout(120)
class TruncatedFilesTest {
  @TempDir private Path folder;

  @Test
  void theProcessSurvivesTruncatedFiles() throws Exception {
    assumeTrue(
        System.getProperty("os.name").equals("Linux"), "mapped files are protected on Linux only");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:-CreateCoredumpOnCrash",
            "-XX:ErrorFile=" + folder.resolve("crash.log"),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:ActiveProcessorCount=1",
            "-cp",
            System.getProperty("java.class.path"),
            TruncatedFiles.class.getName(),
            folder.toString());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    List<String> lines = process.inputReader().lines().toList();
    assertThat(lines)
        .containsExactly(
            "blocks are mapped: true",
            "store: error",
            "same text after it: true",
            "livez after it: 200",
            "same text before: true",
            "model: internal_error",
            "model again: internal_error",
            "livez: 500",
            "readyz: 500");
    assertThat(process.waitFor()).isZero();
  }
}
