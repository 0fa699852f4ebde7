package dev.kvasir.model;

import com.google.gson.JsonArray;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import dev.kvasir.model.ModelConfig.OutputWeights;
import java.nio.file.Path;

/** Reads the configuration of a decoder from a Hugging Face folder's {@code config.json}. */
final class HuggingFaceConfig {
  private final JsonFile json;
  private final Architecture architecture;

  private HuggingFaceConfig(JsonFile json) {
    this.json = json;
    String type =
        json.string("model_type").orElseThrow(() -> json.missing("model_type", "a string"));
    this.architecture = Architecture.named(type, json.name());
  }

  static ModelConfig read(Path folder) {
    JsonFile json = JsonFile.read(folder.resolve("config.json"));
    ModelConfig plain = new HuggingFaceConfig(json).config(folder);
    ModelConfig config = plain.architecture().isLatent() ? LatentConfigs.of(json, plain) : plain;
    return config.checked(json.name());
  }

  private ModelConfig config(Path folder) {
    String activation = json.string("hidden_act").orElse("silu");
    if (!activation.equals("silu")) {
      throw new InvalidInputException(
          "%s: 'hidden_act' is '%s'; only silu is supported".formatted(json.name(), activation));
    }
    int hidden = json.requireInteger("hidden_size");
    int queryHeads = json.requireInteger("num_attention_heads");
    int headDim = json.integer("head_dim").orElse(queryHeads == 0 ? 0 : hidden / queryHeads);
    int layers = json.requireInteger("num_hidden_layers");
    return new ModelConfig(
        folder.toAbsolutePath().normalize().getFileName().toString(),
        architecture,
        layers,
        hidden,
        json.requireInteger("intermediate_size"),
        queryHeads,
        json.integer("num_key_value_heads").orElse(queryHeads),
        headDim,
        headDim,
        json.requireInteger("vocab_size"),
        json.integer("max_position_embeddings").orElse(2048),
        json.number("rms_norm_eps").orElse(1e-6).floatValue(),
        rope(headDim),
        windows(layers),
        output());
  }

  /** Files that do not say go by what they hold: the default differs between architectures. */
  private OutputWeights output() {
    return json.bool("tie_word_embeddings")
        .map(tied -> tied ? OutputWeights.EMBEDDING : OutputWeights.OWN)
        .orElse(OutputWeights.OWN_OR_EMBEDDING);
  }

  private ModelConfig.RopeSettings rope(int headDim) {
    // Newer files keep all of it in 'rope_parameters', older ones the scaling in 'rope_scaling'.
    JsonFile scaling =
        json.object("rope_parameters").or(() -> json.object("rope_scaling")).orElse(null);
    double base = 10_000;
    if (json.has("rope_theta")) {
      base = json.number("rope_theta").orElseThrow();
    } else if (scaling != null) {
      base = scaling.number("rope_theta").orElse(base);
    }
    double share = json.number("partial_rotary_factor").orElse(1.0);
    return new ModelConfig.RopeSettings(
        RopeLayout.HALVES, base, (int) (headDim * share), frequencies(scaling));
  }

  private static RopeFrequencies frequencies(JsonFile scaling) {
    if (scaling == null) {
      return new RopeFrequencies.Plain();
    }
    String kind = scaling.string("rope_type").or(() -> scaling.string("type")).orElse("default");
    return switch (kind) {
      case "default" -> new RopeFrequencies.Plain();
      case "linear" -> new RopeFrequencies.Linear(required(scaling, "factor"));
      case "llama3" ->
          new RopeFrequencies.Llama3(
              required(scaling, "factor"),
              required(scaling, "low_freq_factor"),
              required(scaling, "high_freq_factor"),
              required(scaling, "original_max_position_embeddings"));
      default ->
          throw new InvalidInputException(
              "%s: rope scaling is '%s'; supported are default, linear and llama3"
                  .formatted(scaling.name(), kind));
    };
  }

  private static double required(JsonFile json, String key) {
    return json.number(key).orElseThrow(() -> json.missing(key, "a number"));
  }

  /**
   * Mistral's window holds for all layers. Qwen's holds only where {@code use_sliding_window} says
   * so, and then from layer {@code max_window_layers} on. A list of layer types beats both.
   */
  private WindowPattern windows(int layers) {
    int window = json.integer("sliding_window").orElse(0);
    if (window == 0
        || !json.bool("use_sliding_window").orElse(architecture == Architecture.MISTRAL)) {
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
    int firstSliding = json.integer("max_window_layers").orElse(0);
    return layer -> layer >= firstSliding ? window : WindowPattern.UNBOUNDED;
  }
}
