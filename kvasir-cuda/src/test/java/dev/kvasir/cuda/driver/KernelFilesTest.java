package dev.kvasir.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.cuda.driver.KernelImage.KernelHashes;
import dev.kvasir.format.ContentHash;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The compiled kernels in the jar are built from the sources in this module. */
class KernelFilesTest {
  private static final Path SOURCES = Path.of("src/main/cuda");
  private static final Path FILES = Path.of("src/main/resources/dev/kvasir/cuda");
  private static final Path BUILD = Path.of("../tools/cuda/build");

  /** Building takes minutes. */
  private static final String REBUILD = "kvasir.cuda.rebuild";

  @TempDir Path folder;

  @Test
  void filesAreBuiltFromTheseSources() throws IOException {
    assumeTrue(Files.exists(SOURCES), "the sources are not here");
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (String ending : List.of(".cu", ".cuh")) {
      for (Path file : sources(ending)) {
        all.write(Files.readAllBytes(file));
      }
    }
    assertThat(ContentHash.hex(all.toByteArray()))
        .as("the sources have changed: run tools/cuda/build")
        .isEqualTo(KernelHashes.read().byName().get("sources"));
  }

  private static List<Path> sources(String ending) throws IOException {
    try (Stream<Path> files = Files.list(SOURCES)) {
      return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
    }
  }

  @ParameterizedTest
  @EnumSource(KernelImage.class)
  void everyFileMatchesItsHash(KernelImage image) {
    assertThat(image.bytes()).isNotEmpty();
  }

  @Test
  void aChangedFileIsRejected() {
    KernelHashes others = new KernelHashes(Map.of("sm_90a.cubin.gz", "00"));
    assertThatThrownBy(() -> others.verified("sm_90a.cubin.gz"))
        .isInstanceOf(DeviceException.class)
        .hasMessageMatching("sm_90a.cubin.gz has the hash [0-9a-f]{64}; expected 00");
    assertThatThrownBy(() -> others.verified("sm_10.cubin.gz"))
        .isInstanceOf(DeviceException.class)
        .hasMessage("sm_10.cubin.gz is missing from the jar of kvasir-cuda");
  }

  /** Another compiler version gives different bytes, which are equally valid. */
  @Test
  void rebuildingGivesTheSameBytes() throws Exception {
    assumeTrue(
        Boolean.getBoolean(REBUILD),
        "building takes minutes; -D%s=true asks for it".formatted(REBUILD));
    Process process =
        new ProcessBuilder("bash", BUILD.toString(), folder.toString()).inheritIO().start();
    assertThat(process.waitFor()).isZero();
    assertThat(folder.resolve("hashes")).hasSameTextualContentAs(FILES.resolve("hashes"));
  }
}
