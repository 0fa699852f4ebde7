package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufValue;
import dev.kvasir.model.TinyModel.Sizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that any metadata is either accepted or rejected with one sentence. */
class MalformedConfigTest {
  private static final List<GgufValue> VALUES =
      List.of(
          GgufValue.uint32(0),
          GgufValue.uint32(1),
          GgufValue.uint32(7),
          GgufValue.uint32(0xFFFFFFFFL),
          GgufValue.int32(-3),
          GgufValue.float32(0),
          GgufValue.float32(-2),
          GgufValue.float32(1e-38f),
          GgufValue.float32(Float.NaN),
          GgufValue.float32(Float.POSITIVE_INFINITY),
          GgufValue.bool(false),
          GgufValue.string("yarn"),
          GgufValue.string("longrope"),
          GgufValue.array(GgufValue.uint32(2)),
          GgufValue.array(GgufValue.int32(-1), GgufValue.int32(-1)),
          GgufValue.array(GgufValue.bool(true)),
          GgufValue.array(GgufValue.string("none")));

  private static final List<String> GGUF_KEYS =
      List.of(
          "attention.sliding_window",
          "attention.sliding_window_pattern",
          "attention.head_count",
          "attention.head_count_kv",
          "feed_forward_length",
          "block_count",
          "context_length",
          "attn_logit_softcapping",
          "final_logit_softcapping",
          "embedding_scale",
          "attention.scale",
          "residual_scale",
          "logit_scale",
          "rope.freq_base",
          "rope.freq_base_swa",
          "rope.dimension_count",
          "rope.scaling.type",
          "rope.scaling.factor",
          "rope.scaling.original_context_length",
          "rope.scaling.attn_factor",
          "rope.scaling.finetuned");

  private static final List<String> JSON =
      List.of(
          "0",
          "1",
          "3",
          "-1",
          "0.5",
          "1e300",
          "1e-300",
          "true",
          "null",
          "\"yarn\"",
          "[]",
          "[0, 1]",
          "[\"sliding_attention\", 3]",
          "[null]",
          "{}",
          "{\"rope_type\": \"yarn\"}",
          "{\"rope_type\": \"yarn\", \"factor\": 1e300}",
          "{\"rope_type\": \"yarn\", \"factor\": 2, \"original_max_position_embeddings\": 0}",
          "{\"type\": \"longrope\", \"short_factor\": [1, 1, 1, \"x\"], \"long_factor\": []}",
          "{\"type\": \"su\", \"short_factor\": [1, 1, 1, 0], \"long_factor\": [1, 1, 1, 1]}",
          "{\"full_attention\": 3}",
          "{\"full_attention\": {}, \"sliding_attention\": {\"rope_theta\": -1}}");

  private static final List<String> JSON_KEYS =
      List.of(
          "text_config",
          "hidden_activation",
          "head_dim",
          "num_attention_heads",
          "num_hidden_layers",
          "max_position_embeddings",
          "original_max_position_embeddings",
          "sliding_window",
          "use_sliding_window",
          "sliding_window_pattern",
          "layer_types",
          "query_pre_attn_scalar",
          "attn_logit_softcapping",
          "final_logit_softcapping",
          "embedding_multiplier",
          "attention_multiplier",
          "residual_multiplier",
          "logits_scaling",
          "rope_theta",
          "rope_local_base_freq",
          "rope_scaling",
          "rope_parameters",
          "partial_rotary_factor",
          "no_rope_layers",
          "no_rope_layer_interval",
          "tie_word_embeddings");

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"gemma3", "phi3", "granite", "smollm3"})
  void anyMetadataIsAcceptedOrRejected(String family) {
    TinyModel model = new TinyModel(Sizes.of(family), 3);
    model.say("attention.sliding_window", 16);
    model.tensors.keySet().removeIf(name -> !name.contains("embed")); // the others are not needed
    Map<String, GgufValue> right = Map.copyOf(model.metadata);
    for (String key : GGUF_KEYS) {
      for (GgufValue value : VALUES) {
        model.metadata.clear();
        model.metadata.putAll(right);
        model.say(key, value);
        Path file = model.writeGguf(folder.resolve("odd.gguf"));
        checkAcceptedOrRejected(() -> gguf(file), "%s: %s %s".formatted(family, key, value));
      }
    }
  }

  private static ModelConfig gguf(Path path) {
    try (GgufFile file = GgufFile.open(path)) {
      return ModelConfig.of(file);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"gemma3", "phi3", "granite", "smollm3"})
  void anyJsonIsAcceptedOrRejected(String family) throws IOException {
    JsonObject right = new TinyModel(Sizes.of(family), 3).json;
    right.remove("hidden_act");
    right.addProperty("sliding_window", 16);
    for (String key : JSON_KEYS) {
      for (String value : JSON) {
        JsonObject json = right.deepCopy();
        JsonElement odd = JsonParser.parseString(value);
        json.add(key, odd);
        Files.writeString(folder.resolve("config.json"), json.toString());
        checkAcceptedOrRejected(
            () -> ModelConfig.of(folder), "%s: %s %s".formatted(family, key, value));
      }
    }
  }

  private interface Reading {
    ModelConfig read();
  }

  /** Whatever is accepted must also serve the queries of layers. */
  private static void checkAcceptedOrRejected(Reading reading, String what) {
    Throwable thrown =
        catchThrowable(
            () -> {
              ModelConfig config = reading.read();
              for (int layer = 0; layer < Math.min(config.layers(), 100); layer++) {
                assertThat(config.windows().of(layer)).isPositive();
                int kind = config.ropes().of(layer);
                if (kind != RopePattern.NONE) {
                  config.ropes().kinds().get(kind).rope();
                }
              }
            });
    if (thrown != null) {
      assertThat(thrown).as(what).isInstanceOf(InvalidInputException.class);
      assertThat(thrown.getMessage()).as(what).doesNotContain("\n");
    }
  }
}
