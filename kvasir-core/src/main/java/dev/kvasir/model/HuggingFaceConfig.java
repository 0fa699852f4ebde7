package dev.kvasir.model;

import com.google.gson.JsonArray;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.model.ModelConfig.OutputWeights;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.IntPredicate;

/** Reads the configuration of a decoder from a Hugging Face folder's {@code config.json}. */
final class HuggingFaceConfig {
  private final JsonFile whole;
  private final JsonFile json;
  private final Architecture architecture;

  private HuggingFaceConfig(JsonFile file) {
    String type =
        file.string("model_type").orElseThrow(() -> file.missing("model_type", "a string"));
    Architecture named = Architecture.named(type, file.name());
    this.whole = file;
    // Multimodal models nest the decoder's configuration.
    JsonFile text = file.object("text_config").orElse(file);
    this.architecture =
        named == Architecture.NEMOTRON_H
                && RecurrentConfigReader.nemotronPattern(text).contains("E")
            ? Architecture.NEMOTRON_H_MOE
            : named;
    this.json = text.withDefaults(HuggingFaceDefaults.of(architecture, text));
  }

  static ModelConfig read(Path folder) {
    JsonFile json = JsonFile.read(SafetensorsFolder.require(folder, "config.json"));
    HuggingFaceConfig reader = new HuggingFaceConfig(json);
    JsonFile text = reader.json;
    ModelConfig plain = reader.config(folder);
    ModelConfig config =
        plain.architecture().isLatent()
            ? LatentConfigReader.of(text, plain)
            : LayerSizesReader.of(text, RecurrentConfigReader.of(text, plain));
    return ExpertConfigReader.of(text, config).checked(json.name());
  }

  private ModelConfig config(Path folder) {
    checkActivation();
    checkDirection();
    if (architecture != Architecture.GEMMA4) {
      LayerOverrides.requireNone(json);
    }
    int hidden = json.requireInteger("hidden_size");
    int queryHeads = json.requireInteger("num_attention_heads");
    int headDim =
        json.integer("head_dim")
            .orElse(
                json.integer("attention_head_dim")
                    .orElse(queryHeads == 0 ? 0 : hidden / queryHeads));
    int layers = layers();
    int contextLength = json.integer("max_position_embeddings").orElse(2048);
    WindowPattern windows = HuggingFaceWindows.read(json, architecture, layers);
    return new ModelConfig(
        folder.toAbsolutePath().normalize().getFileName().toString(),
        architecture,
        layers,
        hidden,
        feedForward(),
        queryHeads,
        json.integer("num_key_value_heads").orElse(queryHeads),
        headDim,
        headDim,
        json.requireInteger("vocab_size"),
        contextLength,
        epsilon(),
        new HuggingFaceRopes(json, architecture, headDim, contextLength, windows, layers).pattern(),
        windows,
        HuggingFaceScales.read(json, architecture, hidden, headDim),
        Optional.empty(),
        Optional.empty(),
        output());
  }

  /** Returns the number of layers, which newer files of Nemotron-H state as a list only. */
  private int layers() {
    boolean isListed = architecture.isNemotron() && !json.has("num_hidden_layers");
    return isListed
        ? RecurrentConfigReader.nemotronPattern(json).length()
        : json.requireInteger("num_hidden_layers");
  }

  /** Returns the feed-forward width. LFM2 states the width of a layer without gates, unrounded. */
  private int feedForward() {
    if (architecture.hasDeltaNets() && json.has("moe_intermediate_size")) {
      return json.integer("intermediate_size")
          .orElseGet(() -> json.requireInteger("moe_intermediate_size"));
    }
    if (architecture == Architecture.GRANITE_HYBRID) {
      return json.requireInteger("shared_intermediate_size");
    }
    if (architecture == Architecture.NEMOTRON_H_MOE) {
      return json.requireInteger("moe_intermediate_size");
    }
    if (architecture != Architecture.LFM2) {
      return json.requireInteger("intermediate_size");
    }
    int stated =
        json.integer("block_ff_dim").orElseGet(() -> json.requireInteger("intermediate_size"));
    if (!json.bool("block_auto_adjust_ff_dim").orElse(true)) {
      return stated;
    }
    int gated = (int) (2L * stated / 3);
    int wanted = (int) (json.number("block_ffn_dim_multiplier").orElse(1.0) * gated);
    int multiple = Math.max(1, json.integer("block_multiple_of").orElse(256));
    return Math.ceilDiv(wanted, multiple) * multiple;
  }

  private float epsilon() {
    return json.number("rms_norm_eps")
        .or(() -> json.number("norm_eps"))
        .or(() -> json.number("layer_norm_epsilon"))
        .orElse(1e-6)
        .floatValue();
  }

  private void checkActivation() {
    String key = json.has("hidden_activation") ? "hidden_activation" : "hidden_act";
    String known = architecture.activation().huggingFaceName();
    String found = json.string(key).orElse(known);
    if (!found.equals(known)) {
      throw new InvalidInputException(
          "%s: '%s' is '%s'; only %s is supported".formatted(json.name(), key, found, known));
    }
  }

  /** Gemma 4 has texts for images ("vision"), whose text tokens see nothing that follows. */
  private void checkDirection() {
    String key = "use_bidirectional_attention";
    String found = json.element(key).map(Object::toString).orElse("false");
    if (!found.equals("false") && !found.equals("\"vision\"")) {
      throw new InvalidInputException(
          "%s: '%s' is %s; only decoders whose tokens do not see what follows are supported"
              .formatted(json.name(), key, found));
    }
  }

  /**
   * Returns the source of the output weights. It depends on the file's tensors if nothing is
   * stated, since the default differs between architectures, and if a multimodal model states
   * something else than its decoder.
   */
  private OutputWeights output() {
    Optional<Boolean> tied = json.bool("tie_embedding").or(() -> json.bool("tie_word_embeddings"));
    Optional<Boolean> around = whole.bool("tie_word_embeddings");
    if (tied.isEmpty() || !around.orElse(tied.get()).equals(tied.get())) {
      return OutputWeights.OWN_OR_EMBEDDING;
    }
    return tied.get() ? OutputWeights.EMBEDDING : OutputWeights.OWN;
  }

  /** Reads the scale factors and caps of a decoder from a {@code config.json}. */
  private static final class HuggingFaceScales {
    static Scales read(JsonFile json, Architecture architecture, int hidden, int headDim) {
      return switch (architecture) {
        case GEMMA4 ->
            new Scales(
                (float) Math.sqrt(hidden),
                1,
                1,
                1,
                0,
                (float) number(json, "final_logit_softcapping", 0));
        case GEMMA2, GEMMA3 ->
            new Scales(
                (float) Math.sqrt(hidden),
                (float) Math.sqrt(headDim / number(json, "query_pre_attn_scalar", headDim)),
                1,
                1,
                // transformers does not use that of Gemma 3.
                architecture == Architecture.GEMMA2
                    ? (float) number(json, "attn_logit_softcapping", 0)
                    : 0,
                (float) number(json, "final_logit_softcapping", 0));
        case GRANITE, GRANITE_HYBRID ->
            new Scales(
                (float) number(json, "embedding_multiplier", 1),
                (float) (number(json, "attention_multiplier", 1) * Math.sqrt(headDim)),
                (float) number(json, "residual_multiplier", 1),
                (float) (1 / number(json, "logits_scaling", 1)),
                0,
                0);
        default -> Scales.NONE;
      };
    }

    private static double number(JsonFile json, String key, double fallback) {
      return json.number(key).orElse(fallback);
    }
  }

  /** Reads the sliding window of each layer from a {@code config.json}. */
  private static final class HuggingFaceWindows {
    /**
     * Reads the windows. Mistral's applies to all layers, Gemma's to all but the last of every
     * period, SmolLM3's to layers without RoPE. Qwen's applies only with {@code
     * use_sliding_window}: in dense models from layer {@code max_window_layers} on, in Qwen 2 MoE
     * to every other layer before it, in Qwen 3 MoE to all. A list of layer types overrides all of
     * these.
     */
    static WindowPattern read(JsonFile json, Architecture architecture, int layers) {
      ArchitectureTraits traits = architecture.traits();
      int window = json.integer("sliding_window").orElse(0);
      if (window == 0 || !json.bool("use_sliding_window").orElse(traits.slidesByDefault())) {
        return WindowPattern.FULL;
      }
      if (json.array("layer_types").isPresent()) {
        JsonArray types = json.array("layer_types").get();
        if (types.size() != layers) {
          throw new InvalidInputException(
              "%s: 'layer_types' has %d entries; expected %d"
                  .formatted(json.name(), types.size(), layers));
        }
        return layer ->
            types.get(layer).toString().contains("sliding") ? window : WindowPattern.UNBOUNDED;
      }
      if (architecture == Architecture.SMOLLM3) {
        IntPredicate hasRope = HuggingFaceRopes.layersWithRope(json, layers);
        return layer -> hasRope.test(layer) ? WindowPattern.UNBOUNDED : window;
      }
      if (traits.localPeriod() > 0) {
        String key = json.has("sliding_window_pattern") ? "" : "_";
        int period = json.integer(key + "sliding_window_pattern").orElse(traits.localPeriod());
        return WindowPattern.exceptEvery(period, window);
      }
      int most = json.integer("max_window_layers").orElse(28);
      return switch (architecture) {
        case QWEN2, QWEN3 -> layer -> layer >= most ? window : WindowPattern.UNBOUNDED;
        case QWEN2_MOE ->
            layer -> layer % 2 == 0 && layer < most ? window : WindowPattern.UNBOUNDED;
        default -> layer -> window;
      };
    }
  }
}
