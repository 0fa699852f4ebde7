package dev.kvasir.spark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.lab.work.TaskInput;
import dev.kvasir.lab.work.TaskInputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileDistributionTest {
  @TempDir private Path folder;

  private FileDistribution shipment(Path file) {
    FileDistribution distribution = new FileDistribution();
    distribution.add(TaskInputs.bundled().with(TaskInput.of(TaskInput.Role.FILE, file)));
    return distribution;
  }

  @Test
  void linkIsSentUnderItsOwnNameWithoutLeftovers() throws IOException {
    Path blobs = Files.createDirectory(folder.resolve("blobs"));
    Path content = Files.writeString(blobs.resolve("c0ffee"), "weights");
    Path link = Files.createSymbolicLink(folder.resolve("model.gguf"), content);
    try (FileDistribution distribution = shipment(link)) {
      Path sent = distribution.files().getFirst();
      assertThat(sent.toRealPath().getFileName()).hasToString("model.gguf");
      assertThat(sent).hasContent("weights");
    }
    try (Stream<Path> left = Files.list(blobs)) {
      assertThat(left).containsExactly(content);
    }
  }

  @Test
  void fileIsSentUnchanged() throws IOException {
    Path file = Files.writeString(folder.resolve("model.gguf"), "weights");
    try (FileDistribution distribution = shipment(file)) {
      assertThat(distribution.files()).containsExactly(file.toRealPath());
    }
  }
}
