package dev.kvasir.store.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnfinishedFilesTest {
  /** Above the PIDs that Linux assigns. */
  private static final long NOBODY = 99_999_999;

  private static final Duration TWO_HOURS = Duration.ofHours(2);

  @TempDir private Path folder;

  private Path part(long pid, Duration age) throws IOException {
    Path part = folder.resolve("%d-%016x.part".formatted(pid, age.toSeconds()));
    Files.write(part, new byte[10]);
    Files.setLastModifiedTime(part, FileTime.from(Instant.now().minus(age)));
    return part;
  }

  @Test
  void remainsOfAKilledProcessAreRemovedWhenStale() throws Exception {
    Path old = part(NOBODY, TWO_HOURS);
    Path young = part(NOBODY, Duration.ofMinutes(10));
    Path own = part(ProcessHandle.current().pid(), Duration.ofMinutes(10));
    Path foreign = Files.write(folder.resolve("99999999-x.part"), new byte[10]);
    Files.setLastModifiedTime(foreign, FileTime.from(Instant.EPOCH));
    new UnfinishedFiles(folder).clear();
    assertThat(old).doesNotExist();
    assertThat(young).exists();
    assertThat(own).exists();
    assertThat(foreign).exists();
  }

  @Test
  void aProcessThatBeganLaterIsNotTheOwner() throws Exception {
    Path before = part(ProcessHandle.current().pid(), TWO_HOURS);
    new UnfinishedFiles(folder).clear();
    assertThat(before).doesNotExist();
  }

  @Test
  void theFilesOfALivingProcessStayHoweverOld() throws Exception {
    // The first process of the machine is older than all others.
    Instant boot = ProcessHandle.of(1).flatMap(first -> first.info().startInstant()).orElseThrow();
    Duration age = Duration.between(boot, Instant.now()).minusSeconds(1);
    assumeTrue(
        age.compareTo(UnfinishedFiles.STALE_AFTER) > 0, "the machine runs for less than an hour");
    Path part = part(1, age);
    new UnfinishedFiles(folder).clear();
    assertThat(part).exists();
  }
}
