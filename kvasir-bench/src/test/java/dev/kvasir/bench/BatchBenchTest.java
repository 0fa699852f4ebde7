package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class BatchBenchTest {
  @Test
  void smallerCachesAdmitMoreSequences() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    PrintStream silent = new PrintStream(PrintStream.nullOutputStream());
    int exit =
        new CommandLine(new BatchBench(out, silent))
            .execute(
                "--context",
                "512",
                "--sequences",
                "2",
                "--tokens",
                "2",
                "--rounds",
                "1",
                "--kv",
                "fp16;kivi:2,window=0");
    assertThat(exit).isZero();
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .containsPattern("fp16 +2 +1.00")
        .containsPattern("kivi:2,window=0 +1\\d +\\d\\.\\d\\d");
  }

  @Test
  void whatLeavesNothingToMeasureIsRefused() {
    Refusal.of(BatchBench::new, "--context", "16384")
        .says("--context is 16384; expected 1 to 16256");
    Refusal.of(BatchBench::new, "--sequences", "0").says("--sequences is 0; expected at least 1");
    Refusal.of(BatchBench::new, "--context", "512", "--sequences", "1", "--kv", "kivi:2;fp16")
        .says("a sequence of 'fp16' takes");
  }
}
