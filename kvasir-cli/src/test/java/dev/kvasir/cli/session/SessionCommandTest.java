package dev.kvasir.cli.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of {@code session}. */
class SessionCommandTest {
  @TempDir static Path made;
  @TempDir Path folder;

  /** Long enough for a quantized block. */
  @BeforeAll
  static void makeASession() {
    String text = " time".repeat(258);
    String file = made.resolve("made").toString();
    CommandRun.of("generate", "-t=0", "-n=2", "--kv=kivi:4", "--session", file, text).succeeds();
  }

  @BeforeEach
  void keepThree() throws IOException {
    String[] names = {"new", "middle", "old"};
    for (int i = 0; i < names.length; i++) {
      Path file = Files.copy(made.resolve("made"), folder.resolve(names[i] + ".session"));
      Instant then = Instant.now().minus(Duration.ofDays(20L * i));
      Files.setLastModifiedTime(file, FileTime.from(then));
    }
  }

  private CommandRun session(String... arguments) {
    Stream<String> all = Stream.concat(Stream.of("session"), Stream.of(arguments));
    return CommandRun.of(
        Stream.concat(all, Stream.of("--dir", folder.toString())).toArray(String[]::new));
  }

  private Stream<String> names() {
    return session("list").succeeds().out().lines().skip(1).map(line -> line.split(" ")[0]);
  }

  @Test
  void theLatestIsListedFirstAndWhatCannotBeReadIsSaid() throws IOException {
    Files.writeString(folder.resolve("torn.session"), "torn");
    Files.writeString(folder.resolve("said.json"), "{\"model\": \"M\", \"messages\": []}");
    Files.setLastModifiedTime(folder.resolve("torn.session"), FileTime.from(Instant.EPOCH));
    Files.setLastModifiedTime(folder.resolve("said.json"), FileTime.fromMillis(60_000));
    String[] lines = session("list").succeeds().out().split("\\R");
    assertThat(lines).hasSize(6);
    assertThat(lines[0]).matches("name +tokens +kv +bytes +when +model");
    assertThat(lines[1]).matches("new +260 +kivi:4 +\\d.* [KM]iB +\\d{4}-\\d\\d-.* \\p{XDigit}+");
    assertThat(lines[4]).startsWith("said").contains("messages alone").endsWith("M");
    assertThat(lines[5]).startsWith("torn").contains("cannot be read");
  }

  @Test
  void aFolderWithoutSessionsSaysSo() {
    String nowhere = folder.resolve("none").toString();
    assertThat(CommandRun.of("session", "list", "--dir", nowhere).succeeds().err())
        .contains("no sessions are kept in " + nowhere);
  }

  @Test
  void aSessionIsShownWithItsBytesByKindAndItsLastWords() {
    assertThat(session("show", "new").succeeds().out())
        .containsPattern("tokens +260, 259 remembered")
        .containsPattern("KV cache +kivi:4")
        .containsPattern("blocks +\\d.* [KM]iB in 1 of them")
        .containsPattern("rest +\\d.* [KM]iB: recent tokens, sinks, state")
        .containsPattern("last words +\\.\\.\\. time time time");
    String file = folder.resolve("new.session").toString();
    assertThat(session("show", file).succeeds().out()).contains("session         " + file);
    session("show", "nobody").isRefusedWith("'nobody' is neither a session in");
    session("show", "../new").isRefusedWith("'../new' is neither");
  }

  @Test
  void everyByteIsCheckedAndADamagedOneMakesTheExitCodeTwo() throws IOException {
    assertThat(session("verify").succeeds().out().lines())
        .hasSize(3)
        .allMatch(line -> line.matches("\\w+: sound, 260 tokens in 1 blocks and a rest, .*"));
    Path file = folder.resolve("middle.session");
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Files.write(file, bytes);
    CommandRun run = session("verify");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.out()).containsPattern("middle: damaged: .*\\R").hasLineCount(3);
    assertThat(run.err()).contains("2 of 3 are sound");
    session("verify", "new", "old").succeeds();
  }

  @Test
  void remainsOfAKilledProcessAreRemovedAndNamed() throws IOException {
    Path part = Files.writeString(folder.resolve(".new.session.999999999.part"), "half");
    Files.setLastModifiedTime(part, FileTime.from(Instant.now().minus(Duration.ofMinutes(2))));
    String words = ".new.session.999999999.part, which was not written to its end";
    assertThat(session("prune", "--keep=9", "--dry-run").succeeds().out())
        .contains("would remove " + words);
    assertThat(part).exists();
    assertThat(session("prune", "--keep=9").succeeds().out()).contains("removed " + words);
    assertThat(part).doesNotExist();
  }

  @Test
  void whatIsOldOrTooMuchIsRemovedAndNamed() throws IOException {
    Files.writeString(folder.resolve("old.json"), "{\"messages\": []}");
    Files.setLastModifiedTime(
        folder.resolve("old.json"), FileTime.from(Instant.now().minus(Duration.ofDays(40))));
    assertThat(session("prune", "--older-than=30d", "--dry-run").succeeds().out())
        .matches("would remove old, .*, 40 days old\\R");
    assertThat(names()).containsExactly("new", "middle", "old");
    assertThat(session("prune", "--older-than=30d").succeeds().out()).startsWith("removed old, ");
    assertThat(folder.resolve("old.json")).doesNotExist();
    assertThat(session("prune", "--bytes=1GiB").succeeds().err()).contains("0 of 2 are removed");
    session("prune", "--keep=1").succeeds();
    assertThat(names()).containsExactly("new");
    session("prune", "--bytes=1KiB").succeeds();
    assertThat(names()).isEmpty();
  }

  @Test
  void boundsOfPruningAreNamed() {
    session("prune").isRefusedWith("no bound was given", "--keep N");
    session("prune", "--keep=-1").isRefusedWith("--keep is -1", "at least 0");
    session("prune", "--older-than=soon").isRefusedWith("--older-than is 'soon'", "30d");
    session("prune", "--bytes=much").isRefusedWith("--bytes is 'much'", "2GiB");
  }

  @Test
  void aSessionIsRequantizedIntoAnotherFile() throws IOException {
    Path out = folder.resolve("narrow.session");
    assertThat(session("repack", "new", "--kv=kivi:2", "--out", out.toString()).succeeds().err())
        .containsPattern("260 tokens: .* \\(kivi:4\\) became .* \\(kivi:2\\) in .*narrow");
    assertThat(Files.size(out)).isLessThan(Files.size(folder.resolve("new.session")));
    session("verify", "narrow").succeeds();
    session("repack", "new", "--kv=mead:1.5", "--out", out.toString())
        .isRefusedWith("'mead:1.5' quantizes by attention statistics");
  }

  @Test
  void unknownCommandsAreNamed() {
    CommandRun.of("session", "lsit").isRefusedWith("'lsit' is unknown", "did you mean 'list'?");
    assertThat(CommandRun.of("session").succeeds().out())
        .contains("list", "verify", "prune", "repack");
  }
}
