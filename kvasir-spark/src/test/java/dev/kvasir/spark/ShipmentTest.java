package dev.kvasir.spark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.lab.work.Material;
import dev.kvasir.lab.work.Materials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShipmentTest {
  @TempDir private Path folder;

  private Shipment shipment(Path file) {
    Shipment shipment = new Shipment();
    shipment.add(Materials.bundled().with(Material.of(Material.Role.FILE, file)));
    return shipment;
  }

  @Test
  void aLinkGoesUnderItsOwnNameAndLeavesNothingBehind() throws IOException {
    Path blobs = Files.createDirectory(folder.resolve("blobs"));
    Path content = Files.writeString(blobs.resolve("c0ffee"), "weights");
    Path link = Files.createSymbolicLink(folder.resolve("model.gguf"), content);
    try (Shipment shipment = shipment(link)) {
      Path sent = shipment.files().getFirst();
      assertThat(sent.toRealPath().getFileName()).hasToString("model.gguf");
      assertThat(sent).hasContent("weights");
    }
    try (Stream<Path> left = Files.list(blobs)) {
      assertThat(left).containsExactly(content);
    }
  }

  @Test
  void aFileGoesAsItIs() throws IOException {
    Path file = Files.writeString(folder.resolve("model.gguf"), "weights");
    try (Shipment shipment = shipment(file)) {
      assertThat(shipment.files()).containsExactly(file.toRealPath());
    }
  }
}
