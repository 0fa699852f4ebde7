package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufValue;
import dev.kvasir.model.ModelConfig.RopeSettings;
import dev.kvasir.model.RopeFrequencies.LongRope;
import dev.kvasir.model.RopeFrequencies.Yarn;
import dev.kvasir.model.TinyModel.Sizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the configuration of families that differ in norms, windows, RoPE and scales. */
class DenseConfigTest {
  private static final long SEED = 7;

  @TempDir Path folder;

  /** As the smaller multimodal models are published. */
  @Test
  void aMultimodalGemmaStatesLittleOfItsText() {
    ModelConfig config =
        config(
            """
            {"model_type": "gemma3",
             "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
               "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024,
               "rope_scaling": {"factor": 8.0, "rope_type": "linear"}},
             "vision_config": {"hidden_size": 1152}}
            """);
    assertThat(config.architecture()).isEqualTo(Architecture.GEMMA3);
    assertThat(config.queryHeads()).isEqualTo(8);
    assertThat(config.kvHeads()).isEqualTo(4);
    assertThat(config.headDim()).isEqualTo(256);
    assertThat(config.vocabulary()).isEqualTo(262_208);
    assertThat(config.contextLength()).isEqualTo(131_072);
    assertThat(config.output()).isEqualTo(ModelConfig.OutputWeights.EMBEDDING);
    assertThat(config.scales()).isEqualTo(new Scales((float) Math.sqrt(2560), 1, 1, 1, 0, 0));
    for (int layer = 0; layer < 34; layer++) {
      boolean global = layer % 6 == 5;
      assertThat(config.windows().of(layer)).isEqualTo(global ? WindowPattern.UNBOUNDED : 1024);
      RopeSettings rope = config.ropes().kinds().get(config.ropes().of(layer));
      assertThat(rope.base()).isEqualTo(global ? 1e6 : 1e4);
      assertThat(rope.frequencies())
          .isEqualTo(global ? new RopeFrequencies.Linear(8) : new RopeFrequencies.Unscaled());
    }
    assertThat(config.sharedRotation()).isEmpty();
  }

  @Test
  void newerFilesStateRopeForEachLayerType() {
    ModelConfig config =
        config(
            """
            {"model_type": "gemma3_text", "hidden_size": 64, "intermediate_size": 64,
             "num_hidden_layers": 2, "vocab_size": 50, "head_dim": 16,
             "layer_types": ["full_attention", "sliding_attention"],
             "rope_parameters": {
               "full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 5000},
               "sliding_attention": {"rope_type": "default", "rope_theta": 300}}}
            """);
    assertThat(config.ropes().kinds())
        .containsExactly(
            new RopeSettings(RopeLayout.HALVES, 5000, 16, new RopeFrequencies.Linear(2)),
            new RopeSettings(RopeLayout.HALVES, 300, 16, new RopeFrequencies.Unscaled()));
    assertThat(config.ropes().of(0)).isZero();
    assertThat(config.ropes().of(1)).isEqualTo(1);
  }

  @Test
  void capsOfGemma2ApplyUnlessTheFileStatesNone() {
    String sizes =
        """
        {"model_type": "gemma2", "hidden_size": 64, "intermediate_size": 64, "vocab_size": 50,
         "num_hidden_layers": 4, "num_attention_heads": 2, "query_pre_attn_scalar": 64 %s}
        """;
    ModelConfig usual = config(sizes.formatted(""));
    assertThat(usual.scales()).isEqualTo(new Scales(8, 2, 1, 1, 50, 30));
    assertThat(usual.windows().of(0)).isEqualTo(4096);
    assertThat(usual.windows().of(1)).isEqualTo(WindowPattern.UNBOUNDED);
    assertThat(config(sizes.formatted(", \"attn_logit_softcapping\": null")).scales().scoreCap())
        .isZero();
  }

  @Test
  void someLayersHaveNoRope() {
    TinyModel model = new TinyModel(Sizes.of("smollm3"), SEED);
    JsonArray turning = new JsonArray();
    turning.add(0);
    turning.add(1);
    model.json.add("no_rope_layers", turning);
    RopePattern ropes = ModelConfig.of(model.writeFolder(folder.resolve("some"))).ropes();
    assertThat(ropes.of(0)).isEqualTo(RopePattern.NONE);
    assertThat(ropes.of(1)).isZero();
    turning.add(1);
    assertThatThrownBy(() -> ModelConfig.of(model.writeFolder(folder.resolve("some"))))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageEndingWith("'no_rope_layers' has 3 entries; expected 2");
    ModelConfig gguf = gguf(new TinyModel(Sizes.of("smollm3"), SEED));
    for (int layer = 0; layer < 8; layer++) {
      assertThat(gguf.ropes().of(layer)).isEqualTo(layer % 4 == 3 ? RopePattern.NONE : 0);
    }
  }

  @Test
  void yarnScalesQueries() {
    TinyModel model = new TinyModel(Sizes.of("qwen2"), SEED);
    model.say("rope.scaling.type", GgufValue.string("yarn"));
    model.say("rope.scaling.factor", GgufValue.float32(4));
    model.say("rope.scaling.original_context_length", 128);
    JsonObject scaling = new JsonObject();
    scaling.addProperty("rope_type", "yarn");
    scaling.addProperty("factor", 4);
    scaling.addProperty("original_max_position_embeddings", 128);
    model.json.add("rope_scaling", scaling);
    RopeSettings expected =
        new RopeSettings(
            RopeLayout.HALVES,
            TinyModel.ROPE_BASE,
            8,
            new Yarn(4, 128, 32, 1, true),
            1 + 0.1 * Math.log(4));
    assertThat(gguf(model).rope()).isEqualTo(expected);
    Path written = model.writeFolder(folder.resolve("yarn"));
    assertThat(ModelConfig.of(written).rope()).isEqualTo(expected);
    scaling.addProperty("attention_factor", 1.5);
    scaling.addProperty("truncate", false);
    scaling.addProperty("beta_fast", 16);
    written = model.writeFolder(folder.resolve("yarn"));
    assertThat(ModelConfig.of(written).rope().magnitude()).isEqualTo(1.5);
    assertThat(ModelConfig.of(written).rope().frequencies())
        .isEqualTo(new Yarn(4, 128, 16, 1, false));
  }

  /** Fast pairs are unchanged, slow ones are scaled, and those between are interpolated. */
  @Test
  void yarnInterpolatesBetweenFastAndSlowPairs() {
    float[] plain = RopeFrequencies.unscaled(10_000, 64);
    float[] found = new Yarn(4, 4096, 32, 1, true).of(10_000, 64);
    for (int i = 0; i < plain.length; i++) {
      double periods = 4096 * plain[i] / (2 * Math.PI);
      double stretching = plain[i] / found[i];
      if (periods > 45) {
        assertThat(stretching).isEqualTo(1, within(1e-6));
      } else if (periods < 0.7) {
        assertThat(stretching).isEqualTo(4, within(1e-5));
      } else {
        assertThat(stretching).isBetween(1.0, 4.0);
      }
    }
  }

  @Test
  void longRopeDependsOnTheContextLength() {
    TinyModel model = new TinyModel(Sizes.of("phi3"), SEED);
    model.json.addProperty("original_max_position_embeddings", 128);
    model.json.add(
        "rope_scaling",
        JsonParser.parseString(
            """
            {"type": "longrope", "short_factor": [1, 1, 1, 2], "long_factor": [1, 2, 4, 8]}
            """));
    ModelConfig config = ModelConfig.of(model.writeFolder(folder.resolve("long")));
    double magnitude = Math.sqrt(1 + Math.log(512 / 128.0) / Math.log(128));
    assertThat(config.rope().magnitude()).isEqualTo(magnitude);
    assertThat(factors(config)).containsExactly(1, 2, 4, 8);
    assertThat(factors(config.withContextLength(129))).containsExactly(1, 2, 4, 8);
    assertThat(factors(config.withContextLength(128))).containsExactly(1, 1, 1, 2);
    assertThat(config.withContextLength(128).contextLength()).isEqualTo(128);
    assertThat(config.withContextLength(128).rope().magnitude()).isEqualTo(magnitude);
    assertThatThrownBy(() -> config.withContextLength(513))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("long: is to be used for 513 tokens; expected 1 to 512");
  }

  private static float[] factors(ModelConfig config) {
    return ((LongRope) config.rope().frequencies()).factors();
  }

  @Test
  void perLayerValuesMayBeEqual() {
    TinyModel model = new TinyModel(Sizes.of("gemma3"), SEED);
    model.say("feed_forward_length", GgufValue.array(GgufValue.uint32(64), GgufValue.uint32(64)));
    model.say(
        "attention.sliding_window_pattern",
        GgufValue.array(GgufValue.bool(false), GgufValue.bool(true)));
    ModelConfig config = gguf(model);
    assertThat(config.feedForward()).isEqualTo(64);
    assertThat(config.windows().of(0)).isEqualTo(WindowPattern.UNBOUNDED);
    assertThat(config.windows().of(1)).isEqualTo(TinyGemma.WINDOW);
    model.say("attention.head_count_kv", GgufValue.array(GgufValue.uint32(2), GgufValue.uint32(4)));
    assertThatThrownBy(() -> gguf(model))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageEndingWith(
            "'gemma3.attention.head_count_kv' is 2 in one layer and 4 in another;"
                + " expected the same in all");
  }

  @Test
  void aPatternForAnotherLayerCountIsRejected() {
    TinyModel model = new TinyModel(Sizes.of("gemma3"), SEED);
    model.say("attention.sliding_window_pattern", GgufValue.array(GgufValue.bool(true)));
    assertThatThrownBy(() -> gguf(model))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageEndingWith(
            "'gemma3.attention.sliding_window_pattern' has 1 entries; expected 2");
  }

  @Test
  void invalidScalesAreRejected() {
    TinyModel model = new TinyModel(Sizes.of("granite"), SEED);
    model.say("logit_scale", GgufValue.float32(0));
    assertThatThrownBy(() -> gguf(model))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageEndingWith(
            "logits are multiplied by Infinity; expected a finite number above 0");
    TinyModel gemma = new TinyModel(Sizes.of("gemma2"), SEED);
    gemma.say("attn_logit_softcapping", GgufValue.float32(-1));
    assertThatThrownBy(() -> gguf(gemma))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageEndingWith(
            "the cap of scores is -1.0; expected 0 for none or a finite number above it");
  }

  @Test
  void factorsForAnotherPairCountAreRejected() {
    TinyModel model = new TinyModel(Sizes.of("phi3"), SEED);
    model.json.add(
        "rope_scaling",
        JsonParser.parseString(
            "{\"type\": \"longrope\", \"short_factor\": [1, 1], \"long_factor\": [1, 1]}"));
    assertThatThrownBy(() -> ModelConfig.of(model.writeFolder(folder.resolve("long"))))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageEndingWith("'short_factor' has 2 entries; expected 4");
  }

  /** Each number is valid, but together they give an infinite angle. */
  @Test
  void infiniteAnglesAreRejected() {
    TinyModel model = new TinyModel(Sizes.of("llama"), SEED);
    model.say("rope.freq_base", GgufValue.float32(1e-30f));
    model.say("rope.scaling.type", GgufValue.string("linear"));
    model.say("rope.scaling.factor", GgufValue.float32(1e-30f));
    assertThatThrownBy(() -> gguf(model))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("expected a finite angle");
  }

  private ModelConfig gguf(TinyModel model) {
    try (GgufFile file = GgufFile.open(model.writeGguf(folder.resolve("tiny.gguf")))) {
      return ModelConfig.of(file);
    }
  }

  private ModelConfig config(String json) {
    try {
      Path some = Files.createDirectories(folder.resolve("some"));
      Files.writeString(some.resolve("config.json"), json);
      return ModelConfig.of(some);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
