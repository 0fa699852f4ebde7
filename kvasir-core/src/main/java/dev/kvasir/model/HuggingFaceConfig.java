package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.model.ModelConfig.OutputWeights;
import java.nio.file.Path;
import java.util.Optional;

/** Reads the configuration of a decoder from a Hugging Face folder's {@code config.json}. */
final class HuggingFaceConfig {
  private final JsonFile json;
  private final Architecture architecture;

  private HuggingFaceConfig(JsonFile file) {
    String type =
        file.string("model_type").orElseThrow(() -> file.missing("model_type", "a string"));
    this.architecture = Architecture.named(type, file.name());
    // Multimodal models nest the decoder's configuration.
    this.json =
        file.object("text_config").orElse(file).withDefaults(HuggingFaceDefaults.of(architecture));
  }

  static ModelConfig read(Path folder) {
    JsonFile json = JsonFile.read(SafetensorsFolder.require(folder, "config.json"));
    ModelConfig plain = new HuggingFaceConfig(json).config(folder);
    ModelConfig config =
        plain.architecture().isLatent() ? LatentConfigReader.of(json, plain) : plain;
    return ExpertConfigReader.of(json, config).checked(json.name());
  }

  private ModelConfig config(Path folder) {
    checkActivation();
    int hidden = json.requireInteger("hidden_size");
    int queryHeads = json.requireInteger("num_attention_heads");
    int headDim = json.integer("head_dim").orElse(queryHeads == 0 ? 0 : hidden / queryHeads);
    int layers = json.requireInteger("num_hidden_layers");
    int contextLength = json.integer("max_position_embeddings").orElse(2048);
    WindowPattern windows = HuggingFaceWindows.read(json, architecture, layers);
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
        contextLength,
        json.number("rms_norm_eps").orElse(1e-6).floatValue(),
        new HuggingFaceRopes(json, architecture, headDim, contextLength).pattern(windows, layers),
        windows,
        HuggingFaceScales.read(json, architecture, hidden, headDim),
        Optional.empty(),
        Optional.empty(),
        output());
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

  /**
   * Returns the source of the output weights. Without a statement it depends on the file's tensors:
   * the default differs between architectures.
   */
  private OutputWeights output() {
    return json.bool("tie_word_embeddings")
        .map(tied -> tied ? OutputWeights.EMBEDDING : OutputWeights.OWN)
        .orElse(OutputWeights.OWN_OR_EMBEDDING);
  }
}
