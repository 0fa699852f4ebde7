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
      strings = {
        "llama",
        "mistral",
        "qwen2",
        "qwen3",
        "granite",
        "phi3",
        "smollm3",
        "qwen3moe",
        "qwen2moe"
      })
  void familiesOfMultiHeadAttentionAreAccepted(String family) {
    assertThatCode(() -> StandardLayers.require(config(tiny(family)), "a device"))
        .doesNotThrowAnyException();
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
      assertThatCode(() -> experts.requireUnscaled(0, "a device")).doesNotThrowAnyException();
      assertThat(experts.correction(1)).isEmpty();
      assertThat(experts.routerBias(1)).isEmpty();
      assertThat(experts.sharedGate(1)).isEmpty();
      assertThat(experts.downBias(1, 2)).isEmpty();
      requireShape(experts.router(1), sizes.count(), config.hidden());
      requireShape(experts.gate(1, 2, arena), sizes.width(), config.hidden());
      requireShape(experts.up(1, 2, arena), sizes.width(), config.hidden());
      requireShape(experts.down(1, 2, arena), config.hidden(), sizes.width());
    }
  }

  @Test
  void matricesOfSharedExpertsAreFound() {
    TinyModel model = tiny("qwen2moe");
    ModelConfig config = config(model);
    ExpertConfig sizes = config.experts().orElseThrow();
    try (SafetensorsFolder files = SafetensorsFolder.open(folder.resolve("tiny"))) {
      RoutedExperts experts = RoutedExperts.of(config, TensorPlan.of(config, files));
      for (Tensor matrix : experts.sharedGateAndUp(1)) {
        requireShape(matrix, sizes.sharedWidth(), config.hidden());
      }
      requireShape(experts.sharedDown(1), config.hidden(), sizes.sharedWidth());
      assertThat(experts.sharedGate(1).orElseThrow().values()).isEqualTo(config.hidden());
    }
  }

  private static void requireShape(Tensor tensor, long rows, long columns) {
    assertThat(tensor.shape()).as(tensor.name()).containsExactly(rows, columns);
  }
}
