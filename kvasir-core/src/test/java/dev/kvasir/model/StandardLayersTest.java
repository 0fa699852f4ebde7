package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.Tensor;
import dev.kvasir.model.TinyModel.Sizes;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which models have the layers that a device computes. */
class StandardLayersTest {
  @TempDir private Path folder;

  private ModelConfig config(TinyModel model) {
    return ModelConfig.of(model.writeFolder(folder.resolve("tiny")));
  }

  private static TinyModel tiny(String family) {
    return new TinyModel(Sizes.of(family), 43);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"llama", "mistral", "qwen2", "qwen3", "granite", "phi3", "smollm3", "qwen3moe"})
  void familiesOfMultiHeadAttentionAreAccepted(String family) {
    assertThatCode(() -> StandardLayers.require(config(tiny(family)), "a device"))
        .doesNotThrowAnyException();
  }

  @Test
  void sharedExpertsAreRefused() {
    refuses(
        tiny("qwen2moe"),
        "experts gated by SiLU and chosen by a softmax, none of them shared; this is a qwen2moe"
            + " model");
  }

  @Test
  void latentAttentionIsRefused() {
    refuses(
        TinyLatent.trained(TinyLatent.sizes(3), TinyLatent.SMALL, 1),
        "multi-head attention; this is a deepseek2 model, which uses latent attention");
  }

  private void refuses(TinyModel model, String what) {
    ModelConfig config = config(model);
    assertThatThrownBy(() -> StandardLayers.require(config, "a device"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("%s: a device requires %s".formatted(config.name(), what));
  }

  @Test
  void matricesOfExpertsAreFound() {
    TinyModel model = tiny("qwen3moe");
    ModelConfig config = config(model);
    ExpertConfig sizes = config.experts().orElseThrow();
    try (SafetensorsFolder files = SafetensorsFolder.open(folder.resolve("tiny"));
        Arena arena = Arena.ofConfined()) {
      RoutedExperts experts = RoutedExperts.of(config, TensorPlan.of(config, files));
      assertThatCode(() -> experts.requirePlain(0, "a device")).doesNotThrowAnyException();
      requireShape(experts.router(1), sizes.count(), config.hidden());
      requireShape(experts.gate(1, 2, arena), sizes.width(), config.hidden());
      requireShape(experts.up(1, 2, arena), sizes.width(), config.hidden());
      requireShape(experts.down(1, 2, arena), config.hidden(), sizes.width());
    }
  }

  private static void requireShape(Tensor tensor, long rows, long columns) {
    assertThat(tensor.shape()).as(tensor.name()).containsExactly(rows, columns);
  }
}
