package dev.kvasir.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SafetensorsFolderTest {
  @TempDir Path folder;

  @Test
  void theOneFileIsRead() {
    new SafetensorsWriter()
        .floats("w", new float[] {1, 2}, 2)
        .tensor("ids", "I32", new byte[4], 1)
        .writeTo(folder.resolve("model.safetensors"));
    try (SafetensorsFolder weights = SafetensorsFolder.open(folder)) {
      assertThat(weights.name()).isEqualTo(folder.toString());
      assertThat(weights.tensors()).extracting(Tensor::name).containsExactly("w");
      assertThat(weights.require("w", 2).toFloats()).containsExactly(1, 2);
      assertThat(weights.find("v")).isEmpty();
      String file = folder.resolve("model.safetensors").toString();
      assertThat(InMemoryFiles.refusal(file, catchThrowable(() -> weights.find("ids"))))
          .isEqualTo("tensor 'ids' has dtype I32; supported are F32, F16, BF16");
    }
  }

  @Test
  void theShardsOfAnIndexAreReadAsOne() throws IOException {
    shard("one.safetensors", "a", 1);
    shard("two.safetensors", "b", 2);
    index("{\"weight_map\": {\"b\": \"two.safetensors\", \"a\": \"one.safetensors\"}}");
    try (SafetensorsFolder weights = SafetensorsFolder.open(folder)) {
      assertThat(weights.require("a", 1).toFloats()).containsExactly(1);
      assertThat(weights.require("b", 1).toFloats()).containsExactly(2);
      assertThat(weights.tensors()).extracting(Tensor::name).containsExactly("b", "a");
    }
  }

  @Test
  void theIndexDecidesWhichTensorsThereAre() throws IOException {
    new SafetensorsWriter()
        .floats("a", new float[] {1}, 1)
        .floats("left out", new float[] {1}, 1)
        .writeTo(folder.resolve("one.safetensors"));
    index("{\"weight_map\": {\"a\": \"one.safetensors\", \"b\": \"one.safetensors\"}}");
    try (SafetensorsFolder weights = SafetensorsFolder.open(folder)) {
      assertThat(weights.tensors()).extracting(Tensor::name).containsExactly("a");
      assertThat(weights.find("left out")).isEmpty();
      assertThat(weights.find("b")).isEmpty();
    }
  }

  @Test
  void aFolderWithoutWeightsIsRefused() {
    assertThat(refusal(folder))
        .isEqualTo("holds neither model.safetensors nor model.safetensors.index.json");
    assertThat(refusal(folder.resolve("none"))).isEqualTo("no such folder");
  }

  @Test
  void anIndexWithoutAMapIsRefused() throws IOException {
    Path index = index("{}");
    assertThat(refusalNaming(index)).isEqualTo("'weight_map' is missing; expected an object");
  }

  @Test
  void aMissingShardIsRefusedAndTheOthersAreClosed() throws IOException {
    Path one = shard("one.safetensors", "a", 1);
    index("{\"weight_map\": {\"a\": \"one.safetensors\", \"b\": \"two.safetensors\"}}");
    assertThat(refusalNaming(folder.resolve("two.safetensors"))).isEqualTo("no such file");
    assertThat(Mappings.hold(one)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"../w", "/etc/passwd", "sub/w", "sub\\\\w", "", " ", "w\\u0000", "w\\ud800"})
  void aShardOutsideTheFolderIsRefused(String name) throws IOException {
    Path index = index("{\"weight_map\": {\"a\": \"%s\"}}".formatted(name));
    Throwable thrown = catchThrowable(() -> SafetensorsFolder.open(folder));
    assertThat(InMemoryFiles.refusal(index + " 'weight_map'", thrown))
        .startsWith("'a' is \"")
        .endsWith("; expected a file name without a folder");
  }

  @Test
  void aShardThatIsAFolderIsRefused() throws IOException {
    index("{\"weight_map\": {\"a\": \"..\"}}");
    assertThat(refusalNaming(folder.resolve(".."))).isEqualTo("is a folder; a file was expected");
  }

  @Test
  void aShardThatIsNoNameIsRefused() throws IOException {
    Path index = index("{\"weight_map\": {\"a\": 3}}");
    Throwable thrown = catchThrowable(() -> SafetensorsFolder.open(folder));
    assertThat(InMemoryFiles.refusal(index + " 'weight_map'", thrown))
        .isEqualTo("'a' is 3; expected a string");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          fp8                | FP8, 8-bit floats with separate scales
          awq                | AWQ, packed 4-bit integers
          gptq               | GPTQ, packed integers of 2 to 8 bits
          bitsandbytes       | bitsandbytes, packed 4-bit or 8-bit numbers
          compressed-tensors | compressed-tensors, packed integers or 8-bit floats
          abacus             | abacus
          """)
  void aCheckpointThatWasQuantizedForOthersIsRefusedByName(String method, String shown)
      throws IOException {
    shard("model.safetensors", "a", 1);
    config("{\"quantization_config\": {\"quant_method\": \"%s\"}}".formatted(method));
    String refusal =
        "its weights are quantized by %s; folders are read with F32, F16, BF16, MXFP4 or NVFP4: use"
            + " the model's original checkpoint, or a GGUF file of it";
    assertThat(refusal(folder)).isEqualTo(refusal, shown);
    config("{\"compression_config\": {\"quant_method\": \"%s\"}}".formatted(method));
    assertThat(refusal(folder)).isEqualTo(refusal, shown);
  }

  @Test
  void aQuantizationThatNamesNoMethodIsRefused() throws IOException {
    shard("model.safetensors", "a", 1);
    config("{\"quantization_config\": {}}");
    assertThat(refusal(folder))
        .startsWith("its weights are quantized by a method without a name; folders are read with");
    config("{\"quantization_config\": {\"load_in_4bit\": true}}");
    assertThat(refusal(folder)).startsWith("its weights are quantized by bitsandbytes, packed");
  }

  @Test
  void packedIntegersAreDetectedByTensorNames() {
    new SafetensorsWriter()
        .floats("model.layers.0.mlp.up_proj.scales", new float[] {1}, 1)
        .tensor("model.layers.0.mlp.up_proj.qweight", "I32", new byte[4], 1)
        .writeTo(folder.resolve("model.safetensors"));
    assertThat(refusal(folder))
        .startsWith("its weights are quantized by GPTQ or AWQ, packed integers; folders are read");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"quantization_config\": null}",
        "{\"quantization_config\": {\"quant_method\": \"mxfp4\"}}"
      })
  void otherConfigurationsAreNoReasonToRefuse(String json) throws IOException {
    shard("model.safetensors", "a", 1);
    config(json);
    try (SafetensorsFolder weights = SafetensorsFolder.open(folder)) {
      assertThat(weights.require("a", 1).toFloats()).containsExactly(1);
    }
  }

  @Test
  void eightBitFloatsAreRefusedWithAdvice() {
    new SafetensorsWriter()
        .tensor("w", "F8_E4M3", new byte[4], 4)
        .writeTo(folder.resolve("model.safetensors"));
    try (SafetensorsFolder weights = SafetensorsFolder.open(folder)) {
      assertThat(catchThrowable(() -> weights.find("w")))
          .hasMessageEndingWith(
              "tensor 'w' has dtype F8_E4M3; supported are F32, F16, BF16: use the model's original"
                  + " checkpoint, or a GGUF file of it");
    }
  }

  private void config(String json) throws IOException {
    Files.writeString(folder.resolve("config.json"), json);
  }

  private Path shard(String fileName, String tensorName, float value) {
    return new SafetensorsWriter()
        .floats(tensorName, new float[] {value}, 1)
        .writeTo(folder.resolve(fileName));
  }

  private Path index(String json) throws IOException {
    return Files.writeString(folder.resolve("model.safetensors.index.json"), json);
  }

  private String refusalNaming(Path file) {
    Throwable thrown = catchThrowable(() -> SafetensorsFolder.open(folder));
    return InMemoryFiles.refusal(file.toString(), thrown);
  }

  private static String refusal(Path path) {
    Throwable thrown = catchThrowable(() -> SafetensorsFolder.open(path));
    return InMemoryFiles.refusal(path.toString(), thrown);
  }
}
