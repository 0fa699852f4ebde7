package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.format.Tensor;
import dev.kvasir.model.ModelConfig.OutputWeights;

/** Reads the configuration of a decoder from a GGUF file's metadata. */
final class GgufConfig {
  private final GgufFile file;
  private final GgufMetadata metadata;
  private final Architecture architecture;

  private GgufConfig(GgufFile file) {
    this.file = file;
    this.metadata = file.metadata();
    this.architecture =
        Architecture.named(metadata.requireString("general.architecture"), file.name());
  }

  static ModelConfig read(GgufFile file) {
    ModelConfig plain = new GgufConfig(file).config();
    ModelConfig config =
        plain.architecture().isLatent()
            ? LatentConfigs.of(file.name(), file.metadata(), plain)
            : plain;
    return config.checked(file.name());
  }

  private ModelConfig config() {
    if (metadata.integer(key("expert_count")).orElse(0) > 0) {
      throw new InvalidInputException(
          "%s: is a mixture of experts; only dense models are supported".formatted(file.name()));
    }
    int hidden = metadata.requireInteger(key("embedding_length"));
    int queryHeads = metadata.requireInteger(key("attention.head_count"));
    int keyDim =
        metadata
            .integer(key("attention.key_length"))
            .orElse(queryHeads == 0 ? 0 : hidden / queryHeads);
    return new ModelConfig(
        metadata.string("general.name").orElse(file.name()),
        architecture,
        metadata.requireInteger(key("block_count")),
        hidden,
        metadata.requireInteger(key("feed_forward_length")),
        queryHeads,
        metadata.integer(key("attention.head_count_kv")).orElse(queryHeads),
        keyDim,
        metadata.integer(key("attention.value_length")).orElse(keyDim),
        vocabulary(hidden),
        metadata.requireInteger(key("context_length")),
        metadata.number(key("attention.layer_norm_rms_epsilon")).orElse(1e-5).floatValue(),
        rope(keyDim),
        windows(),
        OutputWeights.OWN_OR_EMBEDDING);
  }

  private int vocabulary(int hidden) {
    Tensor embedding =
        file.find(TensorNames.GGUF.embedding())
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "%s: holds no weights; tensor '%s' was expected"
                            .formatted(file.name(), TensorNames.GGUF.embedding())));
    if (embedding.shape().length != 2 || embedding.shape()[0] > Integer.MAX_VALUE) {
      throw new InvalidInputException(
          "%s: tensor '%s' has shape %s; expected vocabulary x %d"
              .formatted(file.name(), embedding.name(), embedding.shapeText(), hidden));
    }
    return (int) embedding.shape()[0];
  }

  private ModelConfig.RopeSettings rope(int keyDim) {
    double base = metadata.number(key("rope.freq_base")).orElse(10_000.0);
    int dimensions = metadata.integer(key("rope.dimension_count")).orElse(keyDim);
    return new ModelConfig.RopeSettings(
        architecture.ggufRopeLayout(), base, dimensions, frequencies(dimensions));
  }

  private RopeFrequencies frequencies(int dimensions) {
    if (file.find(TensorNames.ROPE_FACTORS).isPresent()) {
      return new RopeFrequencies.Divided(
          file.require(TensorNames.ROPE_FACTORS, dimensions / 2).toFloats());
    }
    // Older files name no kind and mean linear, by a factor of which 0 says none.
    String kind = metadata.string(key("rope.scaling.type")).orElse("linear");
    double factor =
        metadata
            .number(key("rope.scaling.factor"))
            .or(() -> metadata.number(key("rope.scale_linear")))
            .filter(given -> given != 0)
            .orElse(1.0);
    return switch (kind) {
      case "none" -> new RopeFrequencies.Plain();
      case "linear" -> new RopeFrequencies.Linear(factor);
      default ->
          throw new InvalidInputException(
              "%s: rope scaling is '%s'; supported are none, linear and Llama 3.1's"
                  .formatted(file.name(), kind));
    };
  }

  private WindowPattern windows() {
    int window = metadata.integer(key("attention.sliding_window")).orElse(0);
    return window == 0 ? WindowPattern.FULL : layer -> window;
  }

  private String key(String suffix) {
    return architecture.fileName() + "." + suffix;
  }
}
