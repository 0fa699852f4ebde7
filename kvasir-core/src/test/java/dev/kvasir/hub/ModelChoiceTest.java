package dev.kvasir.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelChoiceTest {
  private static ModelChoice choose(String selector, String... paths) {
    HubListing listing =
        new HubListing(
            "c",
            Stream.of(paths)
                .map(path -> new HubFile(path, OptionalLong.of(1), Optional.empty()))
                .toList());
    return ModelChoice.of(HubReference.parse("hf:o/r" + selector), listing);
  }

  @ParameterizedTest
  @CsvSource({
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf, Q4_K_M",
    "Llama-3.2-1B-Instruct-IQ4_XS.gguf, IQ4_XS",
    "Qwen3-8B-UD-Q4_K_XL.gguf, UD-Q4_K_XL",
    "model.Q5_K_S.gguf, Q5_K_S",
    "gpt-oss-20b-mxfp4.gguf, MXFP4",
    "BF16/Qwen3-8B-BF16-00001-of-00002, BF16",
    "model-fp16.gguf, F16",
    "Phi-4-TQ1_0.gguf, TQ1_0",
    "model-Q4_0-imat.gguf, Q4_0",
  })
  void tagsAreReadFromNames(String path, String tag) {
    assertThat(QuantizationTag.of(path)).contains(tag);
  }

  @ParameterizedTest
  @CsvSource({"model.gguf", "Qwen3-8B.gguf", "Q-model.gguf", "coder-Q9_0.gguf"})
  void otherNamesHaveNone(String path) {
    assertThat(QuantizationTag.of(path)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "Q4_K_M, Q2_K Q4_0 Q4_K_M Q8_0 F16",
    "Q4_K_S, Q4_K_S Q5_K_M Q8_0",
    "Q5_K_M, Q5_K_M Q3_K_M Q8_0",
    "Q8_0, Q8_0 F16 IQ1_S",
    "BF16, BF16 F32",
  })
  void theNearestToFourBitsIsChosen(String expected, String available) {
    String[] paths =
        Stream.of(available.split(" ")).map(tag -> "m-" + tag + ".gguf").toArray(String[]::new);
    ModelChoice choice = choose("", paths);
    assertThat(choice.entry()).contains("m-" + expected + ".gguf");
    assertThat(choice.reference()).hasToString("hf:o/r:" + expected);
  }

  @Test
  void theProfileOfAModelBelongsToIt() {
    String[] paths = {
      "a/m-Q8_0.gguf", "a/m-Q8_0.profile", "a/m-Q4_0.profile", "a/kvasir.profile", "kvasir.profile"
    };
    assertThat(choose(":Q8_0", paths).files())
        .extracting(HubFile::path)
        .containsExactly("a/m-Q8_0.gguf", "a/m-Q8_0.profile", "a/kvasir.profile");
    String[] folder = {"config.json", "model.safetensors", "kvasir.profile", "other.profile"};
    assertThat(choose("", folder).files())
        .extracting(HubFile::path)
        .containsExactlyInAnyOrder("config.json", "model.safetensors", "kvasir.profile");
  }

  @Test
  void aFileMayBeNamed() {
    assertThat(choose(":b.gguf", "a.gguf", "sub/b.gguf").entry()).contains("sub/b.gguf");
    assertThat(choose("", "only.gguf", "imatrix.gguf", "mmproj-only.gguf").entry())
        .contains("only.gguf");
  }

  @Test
  void partsAreOneModel() {
    ModelChoice choice =
        choose(":Q8_0", "m-Q8_0-00002-of-00002.gguf", "m-Q8_0-00001-of-00002.gguf", "m-Q4_0.gguf");
    assertThat(choice.files()).hasSize(2);
    assertThat(choice.entry()).contains("m-Q8_0-00001-of-00002.gguf");
    assertThatThrownBy(() -> choose(":Q8_0", "m-Q8_0-00002-of-00002.gguf"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("has only 1 parts of");
  }

  @Test
  void severalModelsOfAQuantizationAreNamed() {
    assertThatThrownBy(() -> choose("", "a-Q4_K_M.gguf", "b-Q4_K_M.gguf"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("name one of the files a-Q4_K_M.gguf, b-Q4_K_M.gguf");
  }

  @Test
  void aFolderIsChosenByItsName() {
    String[] both = {"a-Q4_K_M.gguf", "config.json", "model.safetensors"};
    assertThat(choose("", both).entry()).contains("a-Q4_K_M.gguf");
    assertThat(choose(":safetensors", both).entry()).isEmpty();
    assertThatThrownBy(() -> choose(":Q9", both))
        .hasMessageContaining("possible are Q4_K_M, safetensors");
    assertThatThrownBy(() -> choose("", "pytorch_model.bin", "config.json"))
        .hasMessageContaining("it has pytorch_model.bin, config.json");
  }
}
