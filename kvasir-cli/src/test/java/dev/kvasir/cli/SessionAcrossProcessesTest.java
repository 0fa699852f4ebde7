package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.stored.SessionFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A saved text continues in another process. */
class SessionAcrossProcessesTest {
  private static final String PROMPT = "Once upon a time";
  private static final int PROMPT_TOKENS = 5;

  @TempDir Path folder;

  private Process start(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.add("-XX:ActiveProcessorCount=1"); // others have the rest
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(List.of("generate", "--temperature=0", "--kv=kivi:2", "--session"));
    command.add(folder.resolve("tale").toString());
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(folder.resolve("err").toFile()).start();
    process.getOutputStream().close();
    return process;
  }

  private String end(Process process) throws Exception {
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return out;
  }

  /**
   * SIGTERM ends the first process, with the same effect as Ctrl-C. Everything it printed is saved.
   */
  @Test
  void twoProcessesMakeTheTextOfOneWhereverTheFirstIsEnded() throws Exception {
    Process process = start("--max-tokens=10000", PROMPT);
    String first = new String(process.getInputStream().readNBytes(20), StandardCharsets.UTF_8);
    process.toHandle().destroy(); // Process.destroy would close its output here
    first += end(process);
    assertThat(Files.readString(folder.resolve("err"))).contains("interrupted", "saved ");
    String second = end(start("--max-tokens=6"));
    try (SessionFile saved = SessionFile.open(folder.resolve("tale"))) {
      saved.verify();
      String generated = "" + (saved.sequence().tokens().length - PROMPT_TOKENS);
      String whole =
          CommandRun.of("generate", "-t=0", "--kv=kivi:2", "-n", generated, PROMPT).out();
      assertThat(first.replaceAll("\\R$", "") + second).isEqualTo(whole);
    }
  }
}
