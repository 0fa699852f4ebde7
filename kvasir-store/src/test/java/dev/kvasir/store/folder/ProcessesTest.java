package dev.kvasir.store.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.store.tier.Deadline;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessesTest {
  private static final long BUDGET = 200 * 1024;
  private static final int PROCESSES = 2;

  @TempDir private Path folder;

  @Test
  void processesThatWriteAndEvictAtOnceReadWholeBlobsAndHoldTheBudget() throws Exception {
    List<Process> all = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      all.add(ChildJvm.start(SharingProcess.class, folder + ",200KiB", i));
    }
    for (Process one : all) {
      assertThat(one.waitFor()).isZero();
    }
    long bytes = new BlobFiles(folder).list().stream().mapToLong(BlobFiles.Entry::bytes).sum();
    assertThat(bytes).isPositive();
    assertThat(bytes).isLessThanOrEqualTo(BUDGET + PROCESSES * (BUDGET / 16 + SharingProcess.SIZE));
  }

  @Test
  void processesThatAddToOneRecordAtOnceLoseNothing() throws Exception {
    List<Process> all = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      all.add(ChildJvm.start(AppendingProcess.class, folder, i));
    }
    for (Process one : all) {
      assertThat(one.waitFor()).isZero();
    }
    byte[] record =
        new FolderTier(folder, 0, System.err::println)
            .read(List.of(AppendingProcess.RECORD), Deadline.none())
            .get(AppendingProcess.RECORD);
    assertThat(new String(record, StandardCharsets.UTF_8).lines())
        .hasSize(PROCESSES * AppendingProcess.LINES)
        .doesNotHaveDuplicates();
  }

  @Test
  void aBlobThatDoesNotFitOnTheDiskLeavesNothingBehind() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "there is no bash to limit files with");
    List<String> command = new ArrayList<>(List.of("/bin/bash", "-c"));
    command.add("ulimit -f 100; exec \"$@\"");
    command.add("bash");
    command.addAll(ChildJvm.command(SmallDisk.class, folder, 50_000, 500_000));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    List<String> lines = process.inputReader().lines().toList();
    assertThat(process.waitFor()).isZero();
    assertThat(lines)
        .containsExactly(
            "the store %s cannot be written: File too large".formatted(folder),
            "large stored: false",
            "large stored: false",
            "large stored: false",
            "small stored: true",
            "small alone is there: true",
            "unfinished: 0");
  }
}
