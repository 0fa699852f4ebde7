package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NpyWriterTest {
  @TempDir Path folder;

  /** The output of numpy 2.4 for {@code numpy.save(file, numpy.zeros((8, 300, 64), "f4"))}. */
  @Test
  void theHeaderEqualsNumpys() {
    String text = "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 300, 64), }";
    String head = "\u0093NUMPY\u0001\0v\0" + text + " ".repeat(52) + "\n";
    assertThat(NpyWriter.header(8, 300, 64))
        .hasSize(128)
        .isEqualTo(head.getBytes(StandardCharsets.ISO_8859_1));
    assertThat(new String(NpyWriter.header(4), StandardCharsets.ISO_8859_1)).contains("(4,), }");
    assertThat(new String(NpyWriter.header(), StandardCharsets.ISO_8859_1)).contains("(), }");
  }

  @Test
  void valuesInAnyOrderAreReadBack() {
    Path file = folder.resolve("a.npy");
    float[] values = new float[3 * 20_001]; // larger than a buffer
    Random random = new Random(3);
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextFloat();
    }
    try (NpyWriter writer = NpyWriter.create(file, 3, 20_001)) {
      writer.write(20_001, values, 20_001, 2 * 20_001);
      writer.write(0, values, 0, 20_001);
      writer.finish();
    }
    try (NpyFile read = NpyFile.open(file)) {
      assertThat(read.tensor().shape()).containsExactly(3, 20_001);
      assertThat(read.tensor().toFloats()).isEqualTo(values);
    }
  }

  @Test
  void missingValuesAreZeroAndAnEmptyArrayHasAFile() {
    try (NpyWriter some = NpyWriter.create(folder.resolve("some.npy"), 4);
        NpyWriter none = NpyWriter.create(folder.resolve("none.npy"), 2, 0, 3)) {
      some.write(1, new float[] {5}, 0, 1);
      some.finish();
      none.finish();
    }
    try (NpyFile some = NpyFile.open(folder.resolve("some.npy"));
        NpyFile none = NpyFile.open(folder.resolve("none.npy"))) {
      assertThat(some.tensor().toFloats()).containsExactly(0, 5, 0, 0);
      assertThat(none.tensor().shape()).containsExactly(2, 0, 3);
    }
  }

  @Test
  void anUnfinishedFileLeavesTheOldOneAndNothingElse() throws IOException {
    Path file = Files.writeString(folder.resolve("a.npy"), "old");
    try (NpyWriter writer = NpyWriter.create(file, 2)) {
      writer.write(0, new float[] {1, 2}, 0, 2);
      assertThat(file).hasContent("old");
    }
    assertThat(folder.toFile().list()).containsExactly("a.npy");
    assertThat(file).hasContent("old");
  }

  @Test
  void valuesBeyondTheArrayAreRefused() {
    try (NpyWriter writer = NpyWriter.create(folder.resolve("a.npy"), 2)) {
      assertThatThrownBy(() -> writer.write(1, new float[2], 0, 2))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void aPathThatCannotBeWrittenIsNamed() throws IOException {
    Path missing = folder.resolve("no").resolve("a.npy");
    assertThat(
            InMemoryFiles.refusal(
                missing.toString(), catchThrowable(() -> NpyWriter.create(missing))))
        .startsWith("cannot be written: ");
    Path taken = Files.createDirectory(folder.resolve("taken"));
    Files.writeString(taken.resolve("file"), "");
    try (NpyWriter writer = NpyWriter.create(taken, 1)) {
      assertThat(InMemoryFiles.refusal(taken.toString(), catchThrowable(writer::finish)))
          .startsWith("cannot be written: ");
    }
    assertThat(folder.toFile().list()).containsExactly("taken");
  }
}
