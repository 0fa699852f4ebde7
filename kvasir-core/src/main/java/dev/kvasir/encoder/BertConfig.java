package dev.kvasir.encoder;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.format.JsonFile;

/**
 * The shape of a BERT model, from its config.json or its GGUF file.
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
    return config.checked(file.name());
  }

  static BertConfig of(GgufFile file) {
    GgufMetadata metadata = file.metadata();
    String[] tokens =
        metadata
            .strings("tokenizer.ggml.tokens")
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        file.name() + ": 'tokenizer.ggml.tokens' is missing"));
    BertConfig config =
        new BertConfig(
            size(file, "bert.block_count"),
            size(file, "bert.embedding_length"),
            size(file, "bert.attention.head_count"),
            size(file, "bert.feed_forward_length"),
            tokens.length,
            size(file, "bert.context_length"),
            metadata.number("bert.attention.layer_norm_epsilon").orElse(1e-12).floatValue());
    return config.checked(file.name());
  }

  private static int size(GgufFile file, String key) {
    return size(file.name(), key, file.metadata().requireInteger(key), MAX_SIZE);
  }

  private BertConfig checked(String name) {
    if (hidden % heads != 0) {
      throw new InvalidInputException(
          "%s: the width is %d; expected a multiple of the %d attention heads"
              .formatted(name, hidden, heads));
    }
    return this;
  }

  private static void require(JsonFile file, String key, String expected, String missing) {
    String found = file.string(key).orElse(missing);
    if (!found.equals(expected)) {
      throw new InvalidInputException(
          "%s: %s is '%s'; an encoder needs '%s'".formatted(file.name(), key, found, expected));
    }
  }

  private static int size(JsonFile file, String key, int most) {
    return size(file.name(), key, file.requireInteger(key), most);
  }

  private static int size(String name, String key, int value, int most) {
    if (value < 1 || value > most) {
      throw new InvalidInputException(
          "%s: %s is %d; expected 1 to %d".formatted(name, key, value, most));
    }
    return value;
  }

  int headSize() {
    return hidden / heads;
  }
}
