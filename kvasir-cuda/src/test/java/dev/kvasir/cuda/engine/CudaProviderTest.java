package dev.kvasir.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.kernels.FileWeightSource;
import dev.kvasir.format.GgufFile;
import dev.kvasir.model.LayerRange;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.runtime.BundledFiles;
import dev.kvasir.spi.EngineProvider.LoadRequest;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What several GPUs accept, with the bundled model; none of these needs a GPU. */
class CudaProviderTest {
  private final GgufFile file = BundledFiles.open();
  private final ModelConfig config = ModelConfig.of(file);

  @AfterEach
  void close() {
    file.close();
  }

  private LoadRequest request(int cards, String spec) {
    return new LoadRequest(
        file,
        config,
        Collections.nCopies(cards, 0),
        List.of(CacheSpec.parse(spec)),
        Long.MAX_VALUE,
        (done, all) -> {});
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2",
        "kivi:3,v=2",
        "kvtuner:3",
        "pmkvq:2,budget=3MiB",
        "patternkv:2",
        "mixkvq,high=4.208,mid=2.238",
        "commvq:1"
      })
  void cachesAreDividedByLayer(String spec) {
    assertThatCode(() -> new CudaProvider().check(request(2, spec))).doesNotThrowAnyException();
    assertThatCode(() -> new CudaProvider().check(request(config.layers(), spec)))
        .doesNotThrowAnyException();
  }

  @Test
  void pagesOfAllLayersTogetherAreNot() {
    assertThatCode(() -> new CudaProvider().check(request(1, "mead:2"))).doesNotThrowAnyException();
    assertThatThrownBy(() -> new CudaProvider().check(request(2, "mead:2")))
        .isInstanceOf(DeviceException.class)
        .hasMessage(
            "the cache 'mead:2' has pages of all layers together; with several GPUs expected"
                + " another cache or one GPU");
  }

  @Test
  void everyGpuNeedsALayer() {
    int layers = config.layers();
    assertThatThrownBy(() -> new CudaProvider().check(request(layers + 1, "fp16")))
        .isInstanceOf(DeviceException.class)
        .hasMessage(
            "%s: has %d layers for %d GPUs; expected at most one GPU for each layer"
                .formatted(file.name(), layers, layers + 1));
  }

  /** The embedding is the output matrix too, so the first and the last GPU have a copy each. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void weightsAreThoseOfTheModelAndAnotherEmbedding(int cards) {
    for (boolean blocks : new boolean[] {false, true}) {
      long whole = FileWeightSource.bytes(file, config, blocks);
      long[] weights = new long[cards];
      Arrays.fill(weights, 1);
      List<LayerRange> ranges = LayerRange.divide(config.layers(), weights);
      long parts =
          ranges.stream().mapToLong(r -> FileWeightSource.bytes(file, config, r, blocks)).sum();
      assertThat(FileWeightSource.endBytes(file, config, true, true, blocks))
          .isEqualTo(FileWeightSource.endBytes(file, config, true, false, blocks))
          .isEqualTo(FileWeightSource.endBytes(file, config, false, true, blocks));
      assertThat(FileWeightSource.endBytes(file, config, false, false, blocks)).isZero();
      long embedding = (long) config.vocabulary() * config.hidden() * 17 / 16;
      assertThat(parts - whole)
          .isBetween(cards == 1 ? 0 : embedding, cards == 1 ? 0 : embedding + embedding / 50);
    }
  }
}
