package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.model.ModelConfig.OutputWeights;
import dev.kvasir.model.ModelConfig.RopeSettings;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests that sizes whose product overflows an int are rejected with a sentence. */
class SizeLimitsTest {
  private static final int WIDE = 1 << 22;
  private static final int VOCABULARY = 1 << 24;

  @Test
  void aBatchIsLimitedToTheRowsOfAnArray() {
    assertThatCode(() -> SizeLimits.check(config(), batch(511, 0))).doesNotThrowAnyException();
    assertThatThrownBy(() -> SizeLimits.check(config(), batch(512, 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the batch has 512 rows; expected at most 511");
  }

  @Test
  void logitsAreLimitedToTheSizeOfAnArray() {
    assertThatCode(() -> SizeLimits.check(config(), batch(200, 127))).doesNotThrowAnyException();
    assertThatThrownBy(() -> SizeLimits.check(config(), batch(200, 128)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the batch wants logits of 128 rows; expected at most 127");
  }

  @Test
  void cacheSizesAreLimitedToInts() {
    assertThatCode(() -> new CacheShape(1, 8_388_607, 1)).doesNotThrowAnyException();
    assertThatThrownBy(() -> new CacheShape(65_536, 65_536, 1))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "a cache of 65536 layers with 65536 KV heads each; expected at most 8388607 heads in"
                + " all");
    assertThatThrownBy(() -> new CacheShape(1, 65_536, 65_536))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "a cache of 65536 KV heads with 65536 channels each; expected at most 16777215 channels"
                + " in all");
  }

  private static Batch batch(int rows, int withLogits) {
    Batch batch = new Batch();
    try (KvCache cache = CacheSpec.DEFAULT.newCache(new CacheShape(1, 1, 4))) {
      for (int row = 0; row < rows; row++) {
        batch.add(cache, 1, row < withLogits);
      }
    }
    return batch;
  }

  private static ModelConfig config() {
    return new ModelConfig(
        "wide",
        Architecture.LLAMA,
        1,
        64,
        WIDE,
        2,
        1,
        32,
        32,
        VOCABULARY,
        1000,
        1e-5f,
        RopePattern.uniform(
            new RopeSettings(RopeLayout.HALVES, 10_000, 32, new RopeFrequencies.Unscaled())),
        WindowPattern.FULL,
        Scales.NONE,
        Optional.empty(),
        Optional.empty(),
        OutputWeights.OWN);
  }
}
