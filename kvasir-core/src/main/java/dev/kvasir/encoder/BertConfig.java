package dev.kvasir.encoder;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;

/**
 * The shape of a BERT model, from its config.json.
 *
 * @param positions maximum tokens of a text
 * @param epsilon added to variances
 */
record BertConfig(
    int layers,
    int hidden,
    int heads,
    int feedForward,
    int vocabulary,
    int positions,
    float epsilon) {
  static final String MODEL_TYPE = "bert";

  /** Sizes beyond these are mistakes: the largest encoders have a tenth of them. */
  private static final int MAX_SIZE = 1 << 16;

  private static final int MAX_VOCABULARY = 1 << 24;

  static BertConfig of(JsonFile file) {
    require(file, "model_type", MODEL_TYPE, "");
    require(file, "hidden_act", "gelu", "gelu");
    require(file, "position_embedding_type", "absolute", "absolute");
    BertConfig config =
        new BertConfig(
            size(file, "num_hidden_layers", MAX_SIZE),
            size(file, "hidden_size", MAX_SIZE),
            size(file, "num_attention_heads", MAX_SIZE),
            size(file, "intermediate_size", MAX_SIZE),
            size(file, "vocab_size", MAX_VOCABULARY),
            size(file, "max_position_embeddings", MAX_SIZE),
            file.number("layer_norm_eps").orElse(1e-12).floatValue());
    if (config.hidden % config.heads != 0) {
      throw new InvalidInputException(
          "%s: hidden_size is %d; expected a multiple of num_attention_heads, %d"
              .formatted(file.name(), config.hidden, config.heads));
    }
    return config;
  }

  private static void require(JsonFile file, String key, String expected, String missing) {
    String found = file.string(key).orElse(missing);
    if (!found.equals(expected)) {
      throw new InvalidInputException(
          "%s: %s is '%s'; an encoder needs '%s'".formatted(file.name(), key, found, expected));
    }
  }

  private static int size(JsonFile file, String key, int most) {
    int value = file.requireInteger(key);
    if (value < 1 || value > most) {
      throw new InvalidInputException(
          "%s: %s is %d; expected 1 to %d".formatted(file.name(), key, value, most));
    }
    return value;
  }

  int headSize() {
    return hidden / heads;
  }
}
