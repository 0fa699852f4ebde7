package dev.kvasir.lab.forecast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.calibrator.commvq.CommvqForecast;
import dev.kvasir.lab.calibrator.mead.MeadForecast;
import dev.kvasir.lab.calibrator.pmkvq.PmkvqCalibrator.PmkvqForecast;
import dev.kvasir.lab.codebook.CodebookPlan;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.mead.MeadSettings;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ForecastTest {
  private static final Speeds SPEEDS = Speeds.stated(2, 10);

  @TempDir private Path folder;

  @Test
  void machinesShareTasksAndThreadsShareSingleThreadedTasks() {
    ForecastStage reading = new ForecastStage("reading", ComputeKind.READING, 8, 800);
    ForecastStage training = new ForecastStage("training", ComputeKind.TRAINING, 8, 12);
    Forecast forecast = new Forecast(List.of(reading, training), 0, 0, 0);
    assertThat(forecast.seconds(SPEEDS, 1)).isCloseTo(80 + 8, within(1e-9));
    // Three machines need three rounds for eight texts and two for eight heads.
    assertThat(forecast.seconds(SPEEDS, 3)).isCloseTo(30 + 4, within(1e-9));
    assertThat(forecast.seconds(SPEEDS, 100)).isCloseTo(10 + 2, within(1e-9));
  }

  @Test
  void tooLargeWorkIsRejectedWithAMessage() {
    Path out = folder.resolve("a.profile");
    int mebibyte = 1 << 20;
    assertThatThrownBy(
            () -> new Forecast(List.of(), 4, 0, 0).requireCapacity(mebibyte, out, List.of()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith("this takes 100663301 bytes of heap; Java may use 1048576");
    assertThatThrownBy(
            () -> new Forecast(List.of(), 0, 0, 1L << 60).requireCapacity(1L << 40, out, List.of()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("this takes 1152921504606846976 more bytes next to it; the disk has");
    new Forecast(List.of(), 1000, 0, 1).requireCapacity(97 * mebibyte, out, List.of());
  }

  @Test
  void leftoversOfACancelledRunNeedNoFurtherDisk() throws IOException {
    Path vectors = Files.createDirectory(folder.resolve("a.profile.1.vectors"));
    Files.write(vectors.resolve("training"), new byte[1000]);
    Files.write(vectors.resolve("held-out"), new byte[200]);
    Path journal = Files.write(folder.resolve("a.profile.journal"), new byte[30]);
    Path heads = folder.resolve("a.profile.1.heads");
    Forecast forecast = new Forecast(List.of(), 0, 0, 2000);
    assertThat(forecast.missingDiskBytes(List.of())).isEqualTo(2000);
    assertThat(forecast.missingDiskBytes(List.of(vectors, heads, journal))).isEqualTo(770);
    assertThat(new Forecast(List.of(), 0, 0, 1).missingDiskBytes(List.of(vectors))).isZero();
  }

  /** The model's 8 layers have 1.6 million weights each, 8 query heads and 2 KV heads of 64. */
  @Test
  void estimatesFollowFromTheModelShape() {
    try (LoadedModel model = LoadedModel.bundled()) {
      ModelConfig config = model.config();
      double weights =
          2.0 * config.hidden() * 64 * (8 + 2) + 3.0 * config.hidden() * config.feedForward();
      double layer = 2 * 100 * weights + 2 * 8 * 64 * 100 * 100;
      DecoderFlops flops = new DecoderFlops(config);
      assertThat(flops.forward(100)).isCloseTo(8 * layer, within(1.0));
      assertThat(flops.gradients(100)).isBetween(3 * flops.forward(100), 5 * flops.forward(100));

      Forecast books =
          CommvqForecast.of(
              config,
              plan(config),
              new TextVectors.Settings(1000, 128, 1),
              4096,
              Concurrency.one(2));
      long codebooks = 16 * 4 * 5 * 128 * 64 + 8 * 4 * 10 * 128 * 128;
      assertThat(books.diskBytes()).isEqualTo(32 * 2 * 64 * (1000 + 4 * 128) + codebooks);
      assertThat(books.computeKinds()).containsExactly(ComputeKind.READING, ComputeKind.TRAINING);
    }
  }

  private static CodebookPlan plan(ModelConfig config) {
    return CodebookPlan.of(config.cacheShape(), 1);
  }

  @Test
  void questionsAloneStillNeedGeneratedFiller() {
    try (LoadedModel model = LoadedModel.bundled()) {
      ModelConfig config = model.config();
      Forecast alone = mead(config, 0, 24, true);
      assertThat(alone.stages())
          .extracting(ForecastStage::name)
          .startsWith(
              "generating 8 texts of 512 tokens",
              "reading 24 texts",
              "gradients of 3 texts, forward twice",
              "gradients of 3 texts, backward",
              "computing 64 ids without context, for tables");
      assertThat(alone.seconds(SPEEDS, 1)).isFinite().isPositive();
      assertThat(mead(config, 24, 24, true).stages())
          .extracting(ForecastStage::name)
          .contains("gradients of 6 texts, backward")
          .endsWith("testing the profile, 5 texts with 4 caches");
      // Keys and values of 8 layers, 2 heads of 64 channels, 2 bytes each.
      assertThat(alone.offHeapBytes()).isGreaterThanOrEqualTo(8L * 512 * 8 * 2 * 2 * 64 * 2);
      assertThat(mead(config, 24, 0, true).offHeapBytes()).isEqualTo(3 * alone.offHeapBytes());
      assertThat(mead(config, 96, 0, true).offHeapBytes()).isEqualTo(4 * alone.offHeapBytes());
      assertThat(mead(config, 24, 24, false).offHeapBytes()).isZero();
    }
    assertThat(new ForecastStage("nothing", ComputeKind.READING, 0, 0).seconds(10, 2, 1)).isZero();
  }

  @Test
  void withoutTokenTablesTheirWorkAndMemoryDoNotCount() {
    try (LoadedModel model = LoadedModel.bundled()) {
      ModelConfig config = model.config();
      Forecast tokens = mead(config, 12, 6, false);
      Forecast off = mead(config, 12, 6, false, TableKind.OFF);
      assertThat(off.stages())
          .extracting(ForecastStage::name)
          .containsExactly(
              "reading 18 texts",
              "gradients of 6 texts, forward twice",
              "gradients of 6 texts, backward",
              "fitting 8 layers",
              "testing the profile, 5 texts with 4 caches");
      assertThat(off.operations()).isLessThan(tokens.operations());
      assertThat(off.arrayBytes()).isLessThan(tokens.arrayBytes());
      // All 18 texts are retained: keys and values of 8 layers, 2 heads of 64 channels, as floats.
      assertThat(off.diskBytes()).isGreaterThan(18L * 512 * 8 * 2 * 2 * 64 * 4);
    }
  }

  private static Forecast mead(ModelConfig config, int prose, int tasks, boolean selfMade) {
    return mead(config, prose, tasks, selfMade, TableKind.TOKENS);
  }

  private static Forecast mead(
      ModelConfig config, int prose, int tasks, boolean selfMade, TableKind kind) {
    SortedSet<TableKind> tables = new TreeSet<>(List.of(kind));
    return MeadForecast.of(
        config,
        new MeadSettings(512, prose, tasks, 3, 64, tables, 1),
        256,
        selfMade,
        Concurrency.one(2));
  }

  /** A token uses two of 16 experts, 96 wide. */
  @Test
  void mixtureOfExpertsSupportsCodebooksAndMeadButNotPmkvq() throws IOException {
    Files.writeString(
        folder.resolve("config.json"),
        """
        {"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe",
         "hidden_act": "silu", "hidden_size": 256, "num_hidden_layers": 4,
         "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
         "intermediate_size": 1024, "vocab_size": 1000, "max_position_embeddings": 4096,
         "rms_norm_eps": 1e-6, "rope_theta": 10000, "num_experts": 16, "num_experts_per_tok": 2,
         "moe_intermediate_size": 96, "norm_topk_prob": true}
        """);
    ModelConfig config = ModelConfig.of(folder);
    double weights = 256 * 64 * (2.0 * 4 + 2 * 2) + 256 * (16 + 3.0 * 2 * 96);
    assertThat(new DecoderFlops(config).forward(100))
        .isCloseTo(4 * (2 * 100 * weights + 2 * 4 * 64 * 100 * 100), within(1.0));
    TextVectors.Settings settings = new TextVectors.Settings(1000, 128, 1);
    assertThat(
            CommvqForecast.of(config, plan(config), settings, 4096, Concurrency.one(2))
                .seconds(SPEEDS, 1))
        .isPositive();
    assertThatThrownBy(() -> PmkvqForecast.of(config, 8, 512, Concurrency.one(2)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("this is a mixture of 16 experts");
    assertThat(mead(config, 12, 12, true).seconds(SPEEDS, 1)).isPositive();
  }

  @Test
  void layersMayDifferInTheirRope() throws IOException {
    Files.writeString(
        folder.resolve("config.json"),
        """
        {"architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text",
         "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 256, "num_hidden_layers": 6,
         "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 64,
         "intermediate_size": 1024, "vocab_size": 1000, "max_position_embeddings": 4096,
         "rms_norm_eps": 1e-6, "rope_theta": 1000000, "rope_local_base_freq": 10000,
         "sliding_window": 512, "sliding_window_pattern": 6, "query_pre_attn_scalar": 64}
        """);
    ModelConfig config = ModelConfig.of(folder);
    assertThat(mead(config, 12, 6, true).seconds(SPEEDS, 1)).isPositive();
  }

  @Test
  void parallelTasksShareAHeap() {
    try (LoadedModel model = LoadedModel.bundled()) {
      ModelConfig config = model.config();
      Forecast one = PmkvqForecast.of(config, 8, 512, Concurrency.one(4));
      assertThat(PmkvqForecast.of(config, 8, 512, new Concurrency(4, 1)).arrayBytes())
          .isEqualTo(4 * one.arrayBytes());
      assertThat(PmkvqForecast.of(config, 8, 512, new Concurrency(64, 1)).arrayBytes())
          .as("there are no more tasks than samples")
          .isEqualTo(8 * one.arrayBytes());
      TextVectors.Settings settings = new TextVectors.Settings(1000, 128, 1);
      Forecast books = CommvqForecast.of(config, plan(config), settings, 4096, Concurrency.one(4));
      Forecast aside =
          CommvqForecast.of(config, plan(config), settings, 4096, new Concurrency(4, 1));
      assertThat(aside.offHeapBytes()).isEqualTo(4 * books.offHeapBytes());
      assertThat(aside.diskBytes()).isEqualTo(books.diskBytes());
    }
  }
}
