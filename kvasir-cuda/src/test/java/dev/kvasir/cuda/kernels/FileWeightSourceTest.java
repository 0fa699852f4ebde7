package dev.kvasir.cuda.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cuda.engine.BundledModel;
import dev.kvasir.cuda.kernels.DeviceMatrix.RandomTensor;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.TensorPlan;
import dev.kvasir.runtime.BundledFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Which files a device accepts, based on the bundled model, which has biases of queries, keys and
 * values.
 */
class FileWeightSourceTest {
  @Test
  void theBundledModelIsAccepted() {
    try (GgufFile file = BundledFiles.open()) {
      assertThatCode(() -> FileWeightSource.check(file, ModelConfig.of(file)))
          .doesNotThrowAnyException();
    }
  }

  /** Scales of Q8_0 take the same bytes as in the file, and vectors are floats in both. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void weightsOf8BitsTakeAsMuchOnADeviceAsInTheFile(boolean blocks) {
    try (GgufFile file = BundledFiles.open()) {
      long inFile = file.tensors().stream().mapToLong(tensor -> tensor.data().byteSize()).sum();
      assertThat(FileWeightSource.bytes(file, ModelConfig.of(file), blocks))
          .isBetween(inFile, inFile + inFile / 50);
    }
  }

  /** Codes of 4 bits have a float and a minimum for 32: 24 bytes, where Q4_1 has 20. */
  @Test
  void typesWithFloatsAsScalesTakeMoreThanInTheFile() {
    assertThat(DeviceMatrix.bytes(WeightFormat.GROUPS4, 64, 64)).isEqualTo(64 * 2 * (16 + 4 + 4));
    assertThat(DeviceMatrix.bytes(WeightFormat.GROUPS4, 33, 64)).isEqualTo(64 * 2 * (16 + 4 + 4));
  }

  @ParameterizedTest
  @ValueSource(strings = {"blk.1.attn_k.bias", "blk.1.ffn_up.weight", "output_norm.weight"})
  void missingTensorsAreRejectedLikeOnTheHost(String name) throws IOException {
    try (GgufFile file = renamed(name)) {
      assertThatThrownBy(() -> FileWeightSource.check(file, ModelConfig.of(file)))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageStartingWith(
              "renamed: tensor '%s' is missing; a tensor of shape ".formatted(name));
    }
  }

  /** Returns the bundled model with a tensor renamed. */
  private static GgufFile renamed(String name) throws IOException {
    byte[] bytes = BundledModel.bytes();
    int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(name);
    bytes[at + name.length() - 1] = 'x';
    return GgufFile.of("renamed", MemorySegment.ofArray(bytes), Arena.ofShared());
  }

  /** The bundled model has biases of queries, keys and values. */
  @ParameterizedTest
  @ValueSource(strings = {"ffn_gate", "ffn_up"})
  void unsupportedBiasesAreRejected(String part) {
    try (GgufFile file = BundledFiles.open()) {
      String name = "blk.0.%s.bias".formatted(part);
      TensorSource biased = new Changed(file, name, "blk.0.%s.weight".formatted(part));
      TensorPlan plan = TensorPlan.of(ModelConfig.of(file), biased);
      assertThatThrownBy(() -> FileWeightSource.checkBiases(plan, 0))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining("layer 0 has a bias '%s'; a device adds".formatted(name));
      assertThatCode(() -> FileWeightSource.checkBiases(plan, 1)).doesNotThrowAnyException();
    }
  }

  @ParameterizedTest
  @CsvSource({"F16, 64", "Q8_0, 96"})
  void multiplesOf32ColumnsAreAccepted(GgmlType type, int columns) {
    Tensor tensor = RandomTensor.of(type, 16, columns, 1);
    assertThatCode(() -> FileWeightSource.checkMatrix("a file", tensor)).doesNotThrowAnyException();
  }

  @Test
  void otherColumnCountsAreRejected() {
    Tensor tensor = RandomTensor.of(GgmlType.F16, 16, 48, 1);
    assertThatThrownBy(() -> FileWeightSource.checkMatrix("a file", tensor))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "a file: tensor 'F16 at random' has 48 columns; a device expects a multiple of 32");
  }

  /** A file with one more tensor: the first numbers of a matrix, as a bias of its rows. */
  private record Changed(TensorSource file, String added, String matrix) implements TensorSource {
    @Override
    public String name() {
      return file.name();
    }

    @Override
    public Collection<Tensor> tensors() {
      return file.tensors();
    }

    @Override
    public Optional<Tensor> find(String tensorName) {
      return tensorName.equals(added) ? file.find(matrix).map(this::bias) : file.find(tensorName);
    }

    private Tensor bias(Tensor weights) {
      long rows = weights.shape()[0];
      MemorySegment zeros = MemorySegment.ofArray(new float[(int) rows]);
      return new Tensor(added, GgmlType.F32, new long[] {rows}, zeros);
    }

    @Override
    public void close() {}
  }
}
