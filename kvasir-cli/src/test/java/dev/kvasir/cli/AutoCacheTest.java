package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.choice.UserFolder;
import dev.kvasir.cli.arguments.ModelArguments;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The cache of {@code --kv auto}, with the bundled model. */
class AutoCacheTest {
  @TempDir Path folder;

  @BeforeEach
  void useAnEmptyFolder() {
    System.setProperty(UserFolder.PROPERTY, folder.toString());
  }

  @AfterEach
  void useTheUsersFolder() {
    System.clearProperty(UserFolder.PROPERTY);
  }

  private static String inspected(String memory) {
    return CommandRun.of("inspect", "--kv", "auto", "--context", "16384", "--kv-memory", memory)
        .succeeds()
        .out();
  }

  @Test
  void inspectShowsTheTableItChoseFrom() {
    assertThat(inspected("1GiB")).containsPattern("--kv auto +fp16: fp16 takes 64\\.\\d MiB");
    assertThat(inspected("24MiB"))
        .containsPattern("KV cache +kivi:4,sinks=16: ")
        .containsPattern("--kv auto +kivi:4,sinks=16: 16,384 tokens take .* of 24.0 MiB")
        .containsPattern("fp16 +64\\.\\d MiB +0\\.0000 +1\\.00  too large")
        .containsPattern("kivi:4,sinks=16 .*<- chosen")
        .contains("by the built-in figures of this model", "commvq:1 ");
    CommandRun.of("inspect", "--kv", "auto", "--kv-memory", "1KiB")
        .isRefusedWith("no cache holds 16,384 tokens in 1.0 KiB", "the least");
    CommandRun.of("inspect", "--kv-memory", "1GiB")
        .isRefusedWith("--kv-memory is for --kv auto; --kv is 'fp16'");
  }

  /** Its calibrated caches take part, with their tables. */
  @Test
  void theBundledModelHasFiguresOfItsOwn() {
    assertThat(inspected("17MiB")).containsPattern("kivi:3,group=64,sinks=16 .*<- chosen");
    assertThat(inspected("16MiB"))
        .containsPattern("mixkvq,sinks=16,\\S+ .*<- chosen")
        .containsPattern("commvq:1 .* too large");
    assertThat(inspected("12MiB")).containsPattern("kivi:2,sinks=16 .*<- chosen");
  }

  /** What was measured for a model comes before the built-in table. */
  @Test
  void measuredFiguresDecide() throws IOException {
    Path file = UserFolder.ofThisProcess().figures(new ModelArguments().fingerprint());
    Files.createDirectories(file.getParent());
    Files.writeString(
        file,
        """
        {"source": "a test", "rows": [
          {"spec": "kivi:4", "divergence": 0.5}, {"spec": "kivi:2", "divergence": 0.1}]}
        """);
    assertThat(inspected("24MiB")).contains("kivi:2 ", "divergence 0.1000 by a test");
  }

  @Test
  void generationSaysWhatWasChosenAndKeepsIt() {
    Path session = folder.resolve("tale.session");
    CommandRun first =
        CommandRun.of(
                "generate",
                "--kv=auto",
                "--kv-memory=3MiB",
                "--context=1024",
                "-t=0",
                "-n=2",
                "--session=" + session,
                "Once upon a time")
            .succeeds();
    assertThat(first.err()).contains("--kv auto chose kivi:", "saved ");
    CommandRun second =
        CommandRun.of("generate", "--kv=auto", "-t=0", "-n=2", "--session=" + session, " and")
            .succeeds();
    assertThat(second.err()).doesNotContain("auto chose").contains("restored ", "(kivi:");
  }

  @Test
  void aServerIsRefusedMemoryThatHoldsNothing() {
    CommandRun.of("serve", "--port=0", "--kv=auto", "--kv-memory=64KiB")
        .isRefusedWith("no cache holds 16,384 tokens in 64.0 KiB");
  }
}
