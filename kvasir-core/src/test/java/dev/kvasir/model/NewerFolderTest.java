package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.HeadShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.model.ModelConfig.OutputWeights;
import dev.kvasir.model.RecurrentConfig.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests settings as transformers 5 writes and reads them; earlier versions had other names. */
class NewerFolderTest {
  private static final String GEMMA4 =
      """
      {"model_type": "gemma4_text", "hidden_size": 64, "intermediate_size": 96,
       "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
       "hidden_size_per_layer_input": 0, "sliding_window": 8,
       "layer_types": ["full_attention", "sliding_attention", "full_attention"],
       "per_layer_config": {%s}}
      """;

  private static final String NEMOTRON =
      """
      {"model_type": "nemotron_h", "hidden_size": 64, "intermediate_size": 96,
       "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 50,
       "mamba_num_heads": 8, "mamba_head_dim": 16, "mamba_hidden_act": "%s",
       "layers_block_type": ["linear_attention", "mlp", "full_attention"]}
      """;

  @TempDir Path folder;

  @Test
  void headsOfSingleLayersAreRead() {
    String listed = "\"00\": {\"head_dim\": 32}, \"02\": {\"head_dim\": 32, %s}";
    ModelConfig config = config(GEMMA4.formatted(listed.formatted("\"num_key_value_heads\": 1")));
    assertThat(config.heads(0)).isEqualTo(new HeadShape(2, 32, 32));
    assertThat(config.heads(1)).isEqualTo(new HeadShape(2, 16, 16));
    assertThat(config.heads(2)).isEqualTo(new HeadShape(1, 32, 32));
    assertThat(config.ropes().kinds().get(config.ropes().of(0)).dimensions()).isEqualTo(32);
  }

  @Test
  void aListWithoutLayersGivesAllTheSameHeads() {
    ModelConfig config = config(GEMMA4.formatted(""));
    assertThat(config.heads(0)).isEqualTo(config.heads(1)).isEqualTo(new HeadShape(2, 16, 16));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"3\": {} | config.json 'per_layer_config': has a layer '3'; expected 0 to 2",
        "\"x\": {} | config.json 'per_layer_config': has a layer 'x'; expected 0 to 2",
        "\"0\": 5 | config.json 'per_layer_config': '0' is 5; expected an object",
        "\"1\": {\"sliding_window\": 4} | config.json 'per_layer_config' '1': states"
            + " 'sliding_window'; only head_dim and num_key_value_heads are supported"
      })
  void otherSettingsOfSingleLayersAreRejected(String listed, String sentence) {
    assertRejected(GEMMA4.formatted(listed), sentence);
  }

  @Test
  void otherFamiliesHaveNoSettingsOfSingleLayers() {
    assertRejected(
        llama("\"per_layer_config\": {\"1\": {\"num_key_value_heads\": 1}}"),
        "config.json: 'per_layer_config' has settings of single layers; only those of Gemma 4 are"
            + " supported");
    assertThat(config(llama("\"per_layer_config\": {}")).layers()).isEqualTo(2);
  }

  @Test
  void recurrentLayersHaveOneNameInAllFamilies() {
    for (String type : new String[] {"mamba", "linear_attention"}) {
      assertThat(config(granite(type, "full_attention")).recurrent().orElseThrow().kinds())
          .containsExactly(Kind.RECURRENT, Kind.ATTENTION);
    }
    assertRejected(
        granite("linear_attention", "window_attention"),
        "config.json: 'layer_types' has 'window_attention'; expected linear_attention, mamba,"
            + " conv, full_attention or attention");
  }

  @Test
  void nemotronStatesItsLayersAsAList() {
    ModelConfig config = config(NEMOTRON.formatted("silu"));
    assertThat(config.layers()).isEqualTo(3);
    assertThat(config.recurrent().orElseThrow().kinds())
        .containsExactly(Kind.ONLY_RECURRENT, Kind.ONLY_FEED_FORWARD, Kind.ONLY_ATTENTION);
  }

  /** The whole ties its embeddings unless it says otherwise, whatever its text states. */
  @Test
  void tensorsDecideIfAMultimodalModelContradictsItsText() {
    String text = "\"text_config\": " + llama("\"tie_word_embeddings\": false");
    String whole = "{\"model_type\": \"llama\", \"tie_word_embeddings\": %s, " + text + "}";
    assertThat(config(whole.formatted("true")).output()).isEqualTo(OutputWeights.OWN_OR_EMBEDDING);
    assertThat(config(whole.formatted("false")).output()).isEqualTo(OutputWeights.OWN);
  }

  @ParameterizedTest
  @CsvSource({"0.5, 0.25, 8", ", 0.25, 4", "1.0, 0.25, 16", ",, 8"})
  void rotaryChannelsAreThoseOfTheRopeParameters(Double ofRope, Double ofAll, int dimensions) {
    String inside = ofRope == null ? "" : ", \"partial_rotary_factor\": " + ofRope;
    String around = ofAll == null ? "" : ", \"partial_rotary_factor\": " + ofAll;
    String rope = "{\"rope_type\": \"default\", \"rope_theta\": 5000" + inside + "}";
    ModelConfig config =
        config(
            """
            {"model_type": "glm4_moe", "hidden_size": 64, "intermediate_size": 96,
             "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
             "head_dim": 16, "vocab_size": 50, "n_routed_experts": 4, "num_experts_per_tok": 2,
             "moe_intermediate_size": 32, "rope_parameters": %s%s}
            """
                .formatted(rope, around));
    assertThat(config.rope().dimensions()).isEqualTo(dimensions);
    assertThat(config.rope().base()).isEqualTo(5000);
  }

  @Test
  void windowsOfSmolLm3AreInLayersWithoutRope() {
    ModelConfig config =
        config(
            """
            {"model_type": "smollm3", "hidden_size": 64, "intermediate_size": 96,
             "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
             "vocab_size": 50, "use_sliding_window": true, "sliding_window": 8,
             "no_rope_layer_interval": 2}
            """);
    for (int layer = 0; layer < 4; layer++) {
      assertThat(config.windows().of(layer))
          .isEqualTo(layer % 2 == 1 ? 8 : WindowPattern.UNBOUNDED);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[0.5, 2.0] | 0.5 | 2.0",
        "[0.0, Infinity] | 0.0 | Infinity",
        "[0.5, {\"__float__\": \"Infinity\"}] | 0.5 | Infinity",
        "null | 0.0 | Infinity"
      })
  void stepSizesOfGraniteAreLimited(String limits, double shortest, double longest) {
    ModelConfig config =
        config(
            granite("mamba", "attention")
                .replace(
                    "\"layer_types\"", "\"time_step_limit\": " + limits + ", \"layer_types\""));
    assertThat(config.recurrent().orElseThrow().sizes())
        .isEqualTo(new Mamba2Config(4, 8, 16, 1, 16, shortest, longest));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[1] | 'time_step_limit' is an array; expected two numbers",
        "[0, true] | 'time_step_limit[1]' is true; expected a number",
        "[2, 1] | step sizes of Mamba layers are limited to 2.0 to 1.0; expected limits in order,"
            + " from 0 on"
      })
  void limitsThatAreNoneAreRejected(String limits, String sentence) {
    assertRejected(
        granite("mamba", "attention")
            .replace("\"layer_types\"", "\"time_step_limit\": " + limits + ", \"layer_types\""),
        "config.json: " + sentence);
  }

  @Test
  void tokensThatSeeWhatFollowsAreRejected() {
    String some = llama("\"use_bidirectional_attention\": %s");
    assertThat(config(some.formatted("\"vision\"")).layers()).isEqualTo(2);
    assertRejected(
        some.formatted("true"),
        "config.json: 'use_bidirectional_attention' is true; only decoders whose tokens do not see"
            + " what follows are supported");
  }

  @ParameterizedTest
  @CsvSource({
    "qwen2, 1, .www",
    "qwen3, 3, ...w",
    "qwen2, , ....",
    "qwen2_moe, 2, w...",
    "qwen2_moe, , w.w.",
    "qwen3_moe, 3, wwww",
    "mistral, 3, wwww"
  })
  void windowsOfQwenDifferByFamily(String type, Integer most, String expected) {
    ModelConfig config =
        config(
            """
            {"model_type": "%s", "hidden_size": 64, "intermediate_size": 96,
             "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
             "vocab_size": 50, "num_experts": 4, "num_experts_per_tok": 2,
             "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32,
             "use_sliding_window": true, "sliding_window": 8, "max_window_layers": %s}
            """
                .formatted(type, most));
    String windows =
        IntStream.range(0, 4)
            .mapToObj(layer -> config.windows().isLocal(layer) ? "w" : ".")
            .collect(Collectors.joining());
    assertThat(windows).isEqualTo(expected);
  }

  @Test
  void otherActivationsAreRejected() {
    assertRejected(
        NEMOTRON.formatted("gelu"),
        "config.json: 'mamba_hidden_act' is 'gelu'; only silu is supported");
    String gptOss =
        """
        {"model_type": "gpt_oss", "hidden_size": 64, "intermediate_size": 96,
         "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "head_dim": 16, "vocab_size": 50, "num_local_experts": 4, "num_experts_per_tok": 2,
         "swiglu_alpha": %s}
        """;
    assertThat(config(gptOss.formatted(1.702)).layers()).isEqualTo(2);
    assertRejected(
        gptOss.formatted(1.5), "config.json: 'swiglu_alpha' is 1.5; only 1.702 is supported");
  }

  private static String llama(String more) {
    return """
        {"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 50, %s}
        """
        .formatted(more);
  }

  private static String granite(String first, String second) {
    return """
        {"model_type": "granitemoehybrid", "hidden_size": 64, "shared_intermediate_size": 96,
         "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "vocab_size": 50, "num_local_experts": 0, "mamba_n_heads": 8, "mamba_d_state": 16,
         "layer_types": ["%s", "%s"]}
        """
        .formatted(first, second);
  }

  private void assertRejected(String json, String sentence) {
    assertThatThrownBy(() -> config(json))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(folder + "/" + sentence);
  }

  private ModelConfig config(String json) {
    try {
      Files.writeString(folder.resolve("config.json"), json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return ModelConfig.of(folder);
  }
}
