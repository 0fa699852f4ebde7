package dev.kvasir.model;

import static dev.kvasir.model.Logits.assertClose;
import static dev.kvasir.model.Logits.assertCloseOnAverage;
import static dev.kvasir.model.Logits.ofLoaded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.model.TinyModel.Sizes;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests latent attention against per-head keys and values computed from latents, as in training.
 */
@Tag("contract")
class LatentModelTest {
  private static final long SEED = 53;
  private static final double CLOSE = 1e-3;
  private static final int[] TOKENS = {3, 14, 15, 9, 26, 5, 35, 8, 9, 7, 9, 32};

  @TempDir Path folder;

  private final WorkerPool workers = new WorkerPool(1);
  private final long arenasBefore = CountedArena.liveArenas();

  @AfterEach
  void closingFreesAll() {
    workers.close();
    assertThat(CountedArena.liveArenas()).isEqualTo(arenasBefore);
  }

  static Stream<LatentConfig> latents() {
    return Stream.of(
        TinyLatent.SMALL,
        new LatentConfig(24, 8, 12, 10, 20, TinyModel.EPSILON),
        new LatentConfig(16, 2, 5, 33, 0, TinyModel.EPSILON),
        new LatentConfig(40, 16, 24, 24, 7, TinyModel.EPSILON));
  }

  @ParameterizedTest
  @MethodSource("latents")
  void everyFileLayoutAgreesWithTheDefinition(LatentConfig latent) {
    TinyModel trained = TinyLatent.trained(TinyLatent.sizes(5), latent, SEED);
    double[][] expected = new NaiveDecoder(trained).logits(TOKENS);
    assertClose(ofLoaded(gguf(trained), TOKENS), expected, CLOSE);
    TinyModel inFolder =
        TinyLatent.trained(TinyLatent.sizes(5), withEpsilonOfFolders(latent), SEED);
    double[][] ofFolder = new NaiveDecoder(inFolder).logits(TOKENS);
    assertClose(ofLoaded(huggingFace(inFolder), TOKENS), ofFolder, CLOSE);
    TinyModel split = TinyLatent.split(TinyLatent.sizes(5), latent, SEED);
    assertClose(ofLoaded(gguf(split), TOKENS), new NaiveDecoder(split).logits(TOKENS), CLOSE);
  }

  /** The epsilon that transformers uses for the norms of latents, whatever a folder states. */
  private static LatentConfig withEpsilonOfFolders(LatentConfig latent) {
    return new LatentConfig(
        latent.rank(),
        latent.rotary(),
        latent.nonRotary(),
        latent.output(),
        latent.queryRank(),
        1e-6f);
  }

  @Test
  void aLongPromptAgreesAcrossPages() {
    TinyModel model = TinyLatent.split(TinyLatent.sizes(12), TinyLatent.SMALL, SEED);
    int[] tokens = new Random(SEED).ints(300, 0, 50).toArray();
    assertClose(ofLoaded(gguf(model), tokens), new NaiveDecoder(model).logits(tokens), CLOSE);
  }

  /** Quantized weights lose what rounding of activations loses; transposed ones a little more. */
  @ParameterizedTest
  @EnumSource(
      value = GgmlType.class,
      names = {"F16", "BF16", "Q8_0", "Q4_0", "Q6_K"})
  void everyTypeOfWeightAgrees(GgmlType type) {
    int heads = type == GgmlType.Q6_K ? 8 : 2; // whole blocks
    Sizes sizes = TinyLatent.sizes(heads).withType(type);
    assertAgrees(type, TinyLatent.trained(sizes, TinyLatent.CODED, SEED));
    if (type != GgmlType.Q6_K) { // heads of 64 channels are not whole blocks
      assertAgrees(type, TinyLatent.split(sizes, TinyLatent.CODED, SEED));
    }
  }

  private void assertAgrees(GgmlType type, TinyModel model) {
    float[][] found = ofLoaded(gguf(model), TOKENS);
    double[][] expected = new NaiveDecoder(model).logits(TOKENS);
    if (type.isFloat()) {
      assertClose(found, expected, CLOSE);
    } else {
      assertCloseOnAverage(found, expected, 50 * CLOSE);
    }
  }

  @Test
  void weightBytesAreEstimatedAndCounted() {
    for (GgmlType type : new GgmlType[] {GgmlType.F32, GgmlType.BF16, GgmlType.Q8_0}) {
      Sizes sizes = TinyLatent.sizes(8).withType(type);
      for (TinyModel model :
          new TinyModel[] {
            TinyLatent.trained(sizes, TinyLatent.CODED, SEED),
            TinyLatent.split(sizes, TinyLatent.CODED, SEED)
          }) {
        Path written = model.writeGguf(folder.resolve("tiny.gguf"));
        long estimated;
        try (GgufFile file = GgufFile.open(written)) {
          estimated = TensorPlan.of(ModelConfig.of(file), file).loadedBytes();
        }
        try (HostEngine decoder = gguf(model)) {
          assertThat(decoder.weightBytes()).isEqualTo(estimated);
        }
        long stored = model.tensors.values().stream().mapToLong(t -> t.bytes().length).sum();
        assertThat(type.isFloat() ? stored : estimated).isEqualTo(estimated);
      }
    }
    TinyModel model = TinyLatent.trained(TinyLatent.sizes(3), TinyLatent.SMALL, SEED);
    try (SafetensorsFolder file =
        SafetensorsFolder.open(model.writeFolder(folder.resolve("folder")))) {
      ModelConfig config = ModelConfig.of(folder.resolve("folder"));
      long stored = model.tensors.values().stream().mapToLong(t -> t.bytes().length).sum();
      assertThat(TensorPlan.of(config, file).loadedBytes()).isEqualTo(stored);
    }
  }

  @Test
  void theConfigurationIsReadBack() {
    TinyModel model = TinyLatent.split(TinyLatent.sizes(5), TinyLatent.SMALL, SEED);
    try (HostEngine decoder = gguf(model)) {
      ModelConfig config = decoder.config();
      assertThat(config.latent()).contains(TinyLatent.SMALL);
      assertThat(config.keyDim()).isEqualTo(32);
      assertThat(config.valueDim()).isEqualTo(24);
      assertThat(config.kvHeads()).isOne();
      assertThat(config.cacheShape().hasValuesInKeys()).isTrue();
      assertThat(config.scales().query()).isCloseTo((float) Math.sqrt(32 / 20.0), within(1e-6f));
      assertThat(config.sharedRotation()).isEmpty();
      assertThatThrownBy(() -> config.requirePlain("calibration"))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageEndingWith(
              "calibration requires multi-head attention; this is a deepseek2 model, which uses"
                  + " latent attention");
      assertThatThrownBy(config::rotation)
          .hasMessageEndingWith("latent vectors have no RoPE; one RoPE for all layers is required");
      assertThatThrownBy(() -> decoder.weights().layers().getFirst().multiHead())
          .hasMessage("this layer uses latent attention; expected multi-head attention");
    }
  }

  private HostEngine gguf(TinyModel model) {
    return TinyEngine.ofGguf(
        model.writeGguf(folder.resolve("tiny.gguf")), new ScalarKernels(), workers);
  }

  private HostEngine huggingFace(TinyModel model) {
    return TinyEngine.ofFolder(
        model.writeFolder(folder.resolve("tiny")), new ScalarKernels(), workers);
  }
}
