package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class GgufFileTest {
  private static final int SEED = 20_251;

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void bothVersionsAreRead(int version) {
    try (GgufFile file =
        InMemoryFiles.gguf(new GgufWriter().version(version).put("a", 1).bytes())) {
      assertThat(file.metadata().requireInteger("a")).isEqualTo(1);
    }
  }

  @Test
  void anEmptyFileHasNoTensors() {
    try (GgufFile file = InMemoryFiles.gguf(new GgufWriter().bytes())) {
      assertThat(file.name()).isEqualTo("tiny.gguf");
      assertThat(file.metadata().keys()).isEmpty();
      assertThat(file.tensors()).isEmpty();
      assertThat(file.find("any")).isEmpty();
    }
  }

  @Test
  void shapesAreReversedToOutermostFirst() {
    float[] values = {1, 2, 3, 4, 5, 6};
    try (GgufFile file =
        InMemoryFiles.gguf(new GgufWriter().floats("w", values, 3, 2, 1).bytes())) {
      Tensor tensor = file.require("w", 3, 2, 1);
      assertThat(tensor.shapeText()).isEqualTo("3 x 2 x 1");
      assertThat(tensor.values()).isEqualTo(6);
      assertThat(tensor.toFloats()).isEqualTo(values);
    }
  }

  @Test
  void theFilesInnermostSizeIsTheLastOfTheShape() {
    byte[] file = new GgufWriter().entry("w", 0, 0, 5, 1, 2, 3).data(new byte[120]).bytes();
    try (GgufFile opened = InMemoryFiles.gguf(file)) {
      assertThat(opened.require("w", 3, 2, 1, 5).data().byteSize()).isEqualTo(120);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 32, 64})
  void tensorsAreFoundUnderEveryAlignment(int alignment) {
    byte[] first = randomBytes(3 * 4);
    byte[] second = randomBytes(5 * 2);
    GgufWriter writer = new GgufWriter().alignment(alignment);
    writer.tensor("first", GgmlType.F32, first, 3).tensor("second", GgmlType.BF16, second, 5);
    try (GgufFile file = InMemoryFiles.gguf(writer.bytes())) {
      assertThat(InMemoryFiles.dataOf(file.require("first", 3))).isEqualTo(first);
      assertThat(InMemoryFiles.dataOf(file.require("second", 5))).isEqualTo(second);
    }
  }

  @ParameterizedTest
  @EnumSource
  void dataOfEveryTypeIsTheBytesWritten(GgmlType type) {
    long rowLength = 2L * type.blockLength();
    byte[] bytes = randomBytes((int) type.bytesFor(3 * rowLength));
    byte[] written = new GgufWriter().tensor("w", type, bytes, 3, rowLength).bytes();
    try (GgufFile file = InMemoryFiles.gguf(written)) {
      Tensor tensor = file.require("w", 3, rowLength);
      assertThat(tensor.type()).isEqualTo(type);
      assertThat(InMemoryFiles.dataOf(tensor)).as("seed %d", SEED).isEqualTo(bytes);
    }
  }

  @Test
  void tensorsComeInTheFilesOrder() {
    GgufWriter writer = new GgufWriter().floats("z", new float[1], 1).floats("a", new float[1], 1);
    try (GgufFile file = InMemoryFiles.gguf(writer.bytes())) {
      assertThat(file.tensors()).extracting(Tensor::name).containsExactly("z", "a");
    }
  }

  @Test
  void theListOfTensorsCannotBeChanged() {
    try (GgufFile file =
        InMemoryFiles.gguf(new GgufWriter().floats("w", new float[1], 1).bytes())) {
      assertThatThrownBy(() -> file.tensors().clear())
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }

  private static byte[] randomBytes(int count) {
    byte[] bytes = new byte[count];
    new Random(SEED).nextBytes(bytes);
    return bytes;
  }
}
