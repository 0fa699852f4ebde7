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
import dev.kvasir.runtime.BundledFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Which files a device accepts, based on the bundled model, which has biases of queries, keys and
 * values.
 */
class GgufWeightSourceTest {
  @Test
  void theBundledModelIsAccepted() {
    try (GgufFile file = BundledFiles.open()) {
      assertThatCode(() -> GgufWeightSource.check(file, ModelConfig.of(file)))
          .doesNotThrowAnyException();
    }
  }

  /** Scales of Q8_0 take the same bytes as in the file, and vectors are floats in both. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void weightsOf8BitsTakeAsMuchOnADeviceAsInTheFile(boolean blocks) {
    try (GgufFile file = BundledFiles.open()) {
      long inFile = file.tensors().stream().mapToLong(tensor -> tensor.data().byteSize()).sum();
      assertThat(GgufWeightSource.bytes(file, ModelConfig.of(file), blocks))
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
      assertThatThrownBy(() -> GgufWeightSource.check(file, ModelConfig.of(file)))
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

  @ParameterizedTest
  @ValueSource(strings = {"attn_output", "ffn_gate", "ffn_up", "ffn_down"})
  void unsupportedBiasesAreRejected(String part) {
    Layer layer = Layer.plain().with("blk.0.%s.bias".formatted(part));
    assertThatThrownBy(() -> GgufWeightSource.checkLayer(layer, 0))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "a layer: layer 0 has a bias '%s.bias'; a device adds those of queries, keys and values alone"
                .formatted(part));
  }

  @Test
  void queriesKeysAndValuesHaveBiasesTogetherOrNone() {
    Layer one = Layer.plain().with("blk.0.attn_k.bias");
    assertThatThrownBy(() -> GgufWeightSource.checkLayer(one, 0))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "a layer: layer 0 has biases of [attn_k]; a device expects them of all of [attn_q,"
                + " attn_k, attn_v] or of none");
    Layer all = one.with("blk.0.attn_q.bias").with("blk.0.attn_v.bias");
    assertThatCode(() -> GgufWeightSource.checkLayer(all, 0)).doesNotThrowAnyException();
    assertThatCode(() -> GgufWeightSource.checkLayer(Layer.plain(), 0)).doesNotThrowAnyException();
  }

  @Test
  void fusedTensorsAreRejected() {
    Layer fused = Layer.plain().with("blk.0.attn_qkv.weight");
    assertThatThrownBy(() -> GgufWeightSource.checkLayer(fused, 0))
        .hasMessage(
            "a layer: layer 0 holds queries, keys and values in one tensor, which a device does not"
                + " read");
    assertThatThrownBy(() -> GgufWeightSource.checkLayer(new Layer(Map.of()), 0))
        .hasMessage(
            "a layer: layer 0 has no tensor 'ffn_gate.weight'; a device expects gates in a tensor"
                + " of their own");
  }

  @ParameterizedTest
  @CsvSource({"F16, 64", "Q8_0, 96"})
  void multiplesOf32ColumnsAreAccepted(GgmlType type, int columns) {
    Tensor tensor = RandomTensor.of(type, 16, columns, 1);
    assertThatCode(() -> GgufWeightSource.checkMatrix("a file", tensor)).doesNotThrowAnyException();
  }

  @Test
  void otherColumnCountsAreRejected() {
    Tensor tensor = RandomTensor.of(GgmlType.F16, 16, 48, 1);
    assertThatThrownBy(() -> GgufWeightSource.checkMatrix("a file", tensor))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "a file: tensor 'F16 at random' has 48 columns; a device expects a multiple of 32");
  }

  /** Tensors whose names alone matter. */
  private record Layer(Map<String, Tensor> named) implements TensorSource {
    static Layer plain() {
      return new Layer(Map.of()).with("blk.0.ffn_gate.weight");
    }

    Layer with(String name) {
      Map<String, Tensor> more = new HashMap<>(named);
      more.put(name, new Tensor(name, GgmlType.F32, new long[] {0}, MemorySegment.NULL));
      return new Layer(Map.copyOf(more));
    }

    @Override
    public String name() {
      return "a layer";
    }

    @Override
    public Collection<Tensor> tensors() {
      return named.values();
    }

    @Override
    public Optional<Tensor> find(String tensorName) {
      return Optional.ofNullable(named.get(tensorName));
    }

    @Override
    public void close() {}
  }
}
