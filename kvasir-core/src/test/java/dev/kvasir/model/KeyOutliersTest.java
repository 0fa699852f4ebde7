package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.TinyModel.Sizes;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that outliers change keys and not what a model computes. */
@Tag("contract")
class KeyOutliersTest {
  private static final int[] TOKENS = {3, 14, 15, 9, 26, 5, 35, 8, 9, 7, 9, 32};

  @TempDir private Path folder;

  private final WorkerPool workers = new WorkerPool(2);

  @AfterEach
  void close() {
    workers.close();
  }

  private HostEngine load(TinyModel model) {
    return TinyEngine.ofGguf(model.writeGguf(folder.resolve("tiny.gguf")), workers);
  }

  /** Biases (qwen2), norms of heads (qwen3, gemma3), layers without RoPE (smollm3). */
  @ParameterizedTest
  @ValueSource(strings = {"llama", "qwen2", "qwen3", "gemma3", "smollm3"})
  void factorsThatArePowersOfTwoLeaveEveryBit(String architecture) {
    try (HostEngine plain = load(new TinyModel(Sizes.of(architecture), 11))) {
      HostEngine scaled = plain.withOutliers(new KeyOutliers(2, 16, 5));
      assertThat(Logits.inOneStep(scaled, TOKENS)).isDeepEqualTo(Logits.inOneStep(plain, TOKENS));
      assertThat(Logits.tokenByToken(scaled, TOKENS))
          .isDeepEqualTo(Logits.tokenByToken(plain, TOKENS));
    }
  }

  @Test
  void otherFactorsLeaveLogitsWithinRounding() {
    try (HostEngine plain = load(new TinyModel(Sizes.of("qwen2"), 11))) {
      HostEngine scaled = plain.withOutliers(new KeyOutliers(3, 5.3f, 5));
      double[][] expected = Logits.doubles(Logits.inOneStep(plain, TOKENS));
      Logits.assertClose(Logits.inOneStep(scaled, TOKENS), expected, 0.02);
    }
  }

  @Test
  void bothChannelsOfSomePairsOfEachHeadAreScaled() {
    try (HostEngine plain = load(new TinyModel(Sizes.of("llama"), 11))) {
      ModelConfig config = plain.config();
      RopeLayout layout = config.ropes().kinds().getFirst().layout();
      int half = config.keyDim() / 2;
      float[] factors = new KeyOutliers(2, 16, 5).keyFactors(config, 1);
      for (int head = 0; head < config.kvHeads(); head++) {
        int at = head * config.keyDim();
        long outliers =
            IntStream.range(0, half)
                .filter(pair -> factors[at + layout.first(pair, half)] == 16)
                .filter(pair -> factors[at + layout.second(pair, half)] == 16)
                .count();
        assertThat(outliers).isEqualTo(2);
        assertThat(IntStream.range(0, 2 * half).filter(i -> factors[at + i] == 1).count())
            .isEqualTo(2L * half - 4);
      }
      assertThat(new KeyOutliers(2, 16, 5).keyFactors(config, 1)).isEqualTo(factors);
    }
  }

  @Test
  void aModelWithOutliersIsAnotherOne() {
    try (HostEngine plain = load(new TinyModel(Sizes.of("llama"), 11))) {
      HostEngine scaled = plain.withOutliers(new KeyOutliers(2, 16, 5));
      assertThat(scaled.fingerprint()).isNotEqualTo(plain.fingerprint());
      assertThat(scaled.outliers()).contains(new KeyOutliers(2, 16, 5));
    }
  }

  @Test
  void whatCannotBeScaledIsRefused() {
    TinyModel latent = TinyLatent.trained(TinyLatent.sizes(5), TinyLatent.SMALL, 11);
    try (HostEngine engine = load(latent)) {
      assertThatThrownBy(() -> engine.withOutliers(new KeyOutliers(2, 16, 5)))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining("has latent attention");
    }
    try (HostEngine engine = load(new TinyModel(Sizes.of("llama"), 11))) {
      assertThatThrownBy(() -> engine.withOutliers(new KeyOutliers(5, 16, 5)))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageStartingWith("outliers are 5 pairs;")
          .hasMessageEndingWith("has 4 in a head");
    }
    assertThatThrownBy(() -> KeyOutliers.parse("4:0.5", 1))
        .hasMessage(
            "outliers are 4 pairs with a factor of 0.5; expected at least 1 pair and 1 to 4096");
    assertThatThrownBy(() -> KeyOutliers.parse("x:2", 1))
        .hasMessage("outliers are 'x:2'; expected PAIRS:FACTOR, such as 4:16");
  }
}
