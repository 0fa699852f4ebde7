package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartialFilesTest {
  /** Greater than any process id. */
  private static final long UNUSED_PID = 999_999_999L;

  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void name() {
    file = folder.resolve("tale.session");
  }

  private Path part(String name, long pid, Duration age) throws IOException {
    Path part = Files.writeString(folder.resolve(".%s.%d.part".formatted(name, pid)), "half");
    return Files.setLastModifiedTime(part, FileTime.from(Instant.now().minus(age)));
  }

  @Test
  void theNextWriteRemovesAbandonedFiles() throws IOException {
    Path abandoned = part("tale.session", UNUSED_PID, Duration.ofMinutes(2));
    Path ofAnother = part("other.session", UNUSED_PID, Duration.ofMinutes(2));
    AtomicFile.write(file, "whole");
    assertThat(abandoned).doesNotExist();
    assertThat(ofAnother).exists();
    assertThat(file).hasContent("whole");
  }

  @Test
  void aFileBeingWrittenStays() throws IOException {
    long own = ProcessHandle.current().pid();
    Path lately = part("tale.session", UNUSED_PID, Duration.ofSeconds(5));
    Path begunBefore = part("other.session", own, Duration.ofDays(400));
    Path notAPart = Files.writeString(folder.resolve(".tale.session.x.part"), "");
    Files.setLastModifiedTime(notAPart, FileTime.fromMillis(0));
    AtomicFile.write(file, "whole");
    assertThat(lately).exists();
    assertThat(notAPart).exists();
    // Written before this process started: by an earlier one with the same id.
    assertThat(PartialFiles.abandoned(folder)).containsExactly(begunBefore);
  }

  /** As on a full disk, where the first bytes may still fit. */
  @Test
  void aWriteThatFailsMidwayLeavesTheOldFileAlone() throws IOException {
    AtomicFile.write(file, "whole");
    assertThatThrownBy(
            () ->
                AtomicFile.write(
                    file,
                    out -> {
                      out.write(ByteBuffer.wrap(new byte[10]));
                      throw new IOException("No space left on device");
                    }))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(file + ": cannot be written: No space left on device");
    assertThat(file).hasContent("whole");
    assertThat(folder).isDirectoryContaining(file::equals);
    assertThat(PartialFiles.abandoned(folder)).isEmpty();
  }

  @Test
  void aMissingFolderHasNoAbandonedFiles() {
    assertThat(PartialFiles.abandoned(folder.resolve("missing"))).isEmpty();
  }
}
