package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Mapping and errors of both file formats. */
class MappedFileTest {
  @TempDir Path folder;

  enum Kind {
    GGUF(GgufFile::open, new GgufWriter().floats("w", new float[] {1, 2}, 2).bytes()),
    SAFETENSORS(
        SafetensorsFile::open, new SafetensorsWriter().floats("w", new float[] {1, 2}, 2).bytes());

    private final Function<Path, TensorSource> open;
    private final byte[] tiny;

    Kind(Function<Path, TensorSource> open, byte[] tiny) {
      this.open = open;
      this.tiny = tiny;
    }

    String refusal(Path file) {
      return InMemoryFiles.refusal(file.toString(), catchThrowable(() -> open.apply(file)));
    }
  }

  @ParameterizedTest
  @EnumSource
  void anOpenFileIsMappedUntilItIsClosed(Kind kind) throws IOException {
    Path file = Files.write(folder.resolve("tiny"), kind.tiny);
    try (TensorSource opened = kind.open.apply(file)) {
      assertThat(opened.name()).isEqualTo(file.toString());
      assertThat(opened.require("w", 2).toFloats()).containsExactly(1, 2);
      assertThat(Mappings.hold(file)).isTrue();
    }
    assertThat(Mappings.hold(file)).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void aTensorIsInvalidAfterItsFileIsClosed(Kind kind) throws IOException {
    Path file = Files.write(folder.resolve("tiny"), kind.tiny);
    TensorSource opened = kind.open.apply(file);
    Tensor tensor = opened.require("w", 2);
    opened.close();
    opened.close();
    assertThatThrownBy(() -> tensor.data().get(ValueLayout.JAVA_BYTE, 0))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(tensor::toFloats).isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @EnumSource
  void aTensorCannotBeWritten(Kind kind) throws IOException {
    Path file = Files.write(folder.resolve("tiny"), kind.tiny);
    try (TensorSource opened = kind.open.apply(file)) {
      assertThat(opened.require("w", 2).data().isReadOnly()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFailedOpenLeavesNothingMapped(Kind kind) throws IOException {
    Path file = Files.write(folder.resolve("noise"), new byte[100]);
    assertThat(kind.refusal(file)).isNotBlank();
    assertThat(Mappings.hold(file)).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void aMissingFileAFolderAndAnEmptyFileAreRefused(Kind kind) throws IOException {
    assertThat(kind.refusal(folder.resolve("none"))).isEqualTo("no such file");
    assertThat(kind.refusal(folder)).isEqualTo("is a folder; a file was expected");
    assertThat(kind.refusal(Files.createFile(folder.resolve("empty"))))
        .endsWith("and the file ends at byte 0");
  }

  @ParameterizedTest
  @EnumSource
  void aDeviceIsRefused(Kind kind) {
    Path device = Path.of("/dev/null");
    assumeTrue(Files.exists(device), "only Unix has it");
    assertThat(kind.refusal(device)).isEqualTo("is a pipe or a device; a file was expected");
  }

  @ParameterizedTest
  @EnumSource
  void aFileThatTheUserMayNotReadIsRefused(Kind kind) throws IOException {
    Path file = Files.write(folder.resolve("secret"), kind.tiny);
    assumeTrue(file.toFile().setReadable(false) && !Files.isReadable(file), "root may read it");
    assertThat(kind.refusal(file)).isEqualTo("this user may not read it");
  }

  @ParameterizedTest
  @EnumSource
  void aFileInsideAnArchiveIsRefused(Kind kind) throws IOException {
    Path archive = folder.resolve("models.zip");
    try (FileSystem zip = FileSystems.newFileSystem(archive, Map.of("create", "true"))) {
      Path file = Files.write(zip.getPath("tiny"), kind.tiny);
      assertThat(kind.refusal(file)).startsWith("cannot be mapped");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aSparseFileOfZerosIsRefused(Kind kind) throws IOException {
    Path file = folder.resolve("zeros");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(5L << 30);
    }
    assertThat(kind.refusal(file)).isNotBlank();
  }

  @ParameterizedTest
  @EnumSource
  void aFailedOpenInMemoryClosesTheArena(Kind kind) {
    Arena arena = Arena.ofConfined();
    MemorySegment noise = arena.allocate(100);
    assertThatThrownBy(
            () -> {
              switch (kind) {
                case GGUF -> GgufFile.of("noise", noise, arena);
                case SAFETENSORS -> SafetensorsFile.of("noise", noise, arena);
              }
            })
        .isInstanceOf(InvalidInputException.class);
    assertThat(arena.scope().isAlive()).isFalse();
  }
}
