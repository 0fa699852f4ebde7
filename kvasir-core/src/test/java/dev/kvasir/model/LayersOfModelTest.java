package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.format.GgufFile;
import dev.kvasir.model.TinyModel.Sizes;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The configuration of some of a model's layers. */
class LayersOfModelTest {
  @TempDir private Path folder;

  private ModelConfig config(String family) {
    TinyModel model = new TinyModel(Sizes.of(family), 43);
    try (GgufFile file = GgufFile.open(model.writeGguf(folder.resolve("tiny.gguf")))) {
      return ModelConfig.of(file);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama", "gemma2", "gemma3", "smollm3", "qwen3moe"})
  void layersKeepTheirSettings(String family) {
    ModelConfig whole = config(family);
    for (int first = 0; first < whole.layers(); first++) {
      ModelConfig part =
          whole.withLayers(new LayerRange(first, whole.layers() - first, whole.layers()));
      assertThat(part.layers()).isEqualTo(whole.layers() - first);
      assertThat(part.cacheShape().layers()).isEqualTo(part.layers());
      assertThat(part.hidden()).isEqualTo(whole.hidden());
      assertThat(part.vocabulary()).isEqualTo(whole.vocabulary());
      assertThat(part.attentionShape()).isEqualTo(whole.attentionShape());
      for (int layer = 0; layer < part.layers(); layer++) {
        assertThat(part.windows().of(layer)).isEqualTo(whole.windows().of(first + layer));
        assertThat(part.ropes().of(layer)).isEqualTo(whole.ropes().of(first + layer));
        assertThat(part.hasExperts(layer)).isEqualTo(whole.hasExperts(first + layer));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 5})
  void leadingDenseLayersAreThoseOfThePart(int dense) {
    ExpertConfig whole = config("qwen3moe").experts().orElseThrow().withLeadingDense(dense);
    for (int first = 0; first < 6; first++) {
      ExpertConfig part = whole.withLayers(new LayerRange(first, 6 - first, 6));
      assertThat(part.leadingDense()).isBetween(0, 6 - first);
      int from = first;
      IntStream.range(0, 6 - first)
          .forEach(
              layer ->
                  assertThat(part.hasExperts(layer)).isEqualTo(whole.hasExperts(from + layer)));
    }
  }
}
