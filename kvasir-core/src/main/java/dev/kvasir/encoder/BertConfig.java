package dev.kvasir.encoder;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufMetadata;
import dev.kvasir.format.JsonFile;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The shape of an encoder, from its config.json or its GGUF file.
 *
 * @param positions maximum tokens of a text
 * @param firstPosition row of the position embeddings that the first token has
 * @param epsilon added to variances
 * @param ropeBase base of the rotary positions; 0 if the family has position embeddings
 */
public record BertConfig(
    Family family,
    int layers,
    int hidden,
    int heads,
    int feedForward,
    int vocabulary,
    int positions,
    int firstPosition,
    float epsilon,
    float ropeBase) {

  /** The names of a family, and what sets it apart. */
  public enum Family {
    BERT("bert", "bert"),
    /** Positions begin after the padding token; one type of token. */
    ROBERTA("roberta", ""),
    /** The same with another vocabulary: BGE M3 and BGE rerankers. */
    XLM_ROBERTA("xlm-roberta", ""),
    /** Rotary positions, gated feed-forward layers, no biases. */
    NOMIC_BERT("nomic_bert", "nomic-bert");

    private final String modelType;
    private final String architecture; // in GGUF, which knows RoBERTa as BERT

    Family(String modelType, String architecture) {
      this.modelType = modelType;
      this.architecture = architecture;
    }

    static Optional<Family> of(JsonFile config) {
      return config
          .string("model_type")
          .flatMap(name -> Stream.of(values()).filter(f -> f.modelType.equals(name)).findFirst());
    }

    static Optional<Family> of(GgufMetadata metadata) {
      return metadata
          .string("general.architecture")
          .flatMap(
              name -> Stream.of(values()).filter(f -> f.architecture.equals(name)).findFirst());
    }

    /** Returns the name of Hugging Face. */
    public String modelType() {
      return modelType;
    }

    /** Returns whether feed-forward layers are {@code down(up(x) * silu(gate(x)))}. */
    boolean isGated() {
      return this == NOMIC_BERT;
    }
  }

  /** Sizes beyond these are mistakes: the largest encoders have a tenth of them. */
  private static final int MAX_SIZE = 1 << 16;

  private static final int MAX_VOCABULARY = 1 << 24;

  /** Nomic's models run beyond these tokens only with scaled rotary positions. */
  private static final int NOMIC_POSITIONS = 2048;

  public static BertConfig of(JsonFile file) {
    Family family =
        Family.of(file)
            .orElseThrow(() -> new InvalidInputException(file.name() + ": is no known encoder"));
    BertConfig config = family == Family.NOMIC_BERT ? nomic(file) : bert(family, file);
    return config.checked(file.name());
  }

  private static BertConfig bert(Family family, JsonFile file) {
    require(file, "hidden_act", "gelu", "gelu");
    require(file, "position_embedding_type", "absolute", "absolute");
    int rows = size(file, "max_position_embeddings", MAX_SIZE);
    int first = family == Family.BERT ? 0 : file.integer("pad_token_id").orElse(1) + 1;
    if (first < 0 || first >= rows) {
      throw new InvalidInputException(
          "%s: pad_token_id is %d; expected less than the %d positions"
              .formatted(file.name(), first - 1, rows));
    }
    return new BertConfig(
        family,
        size(file, "num_hidden_layers", MAX_SIZE),
        size(file, "hidden_size", MAX_SIZE),
        size(file, "num_attention_heads", MAX_SIZE),
        size(file, "intermediate_size", MAX_SIZE),
        size(file, "vocab_size", MAX_VOCABULARY),
        rows - first,
        first,
        file.number("layer_norm_eps").orElse(1e-12).floatValue(),
        0);
  }

  private static BertConfig nomic(JsonFile file) {
    require(file, "activation_function", "swiglu", "");
    for (String key : new String[] {"prenorm", "qkv_proj_bias", "rotary_emb_interleaved"}) {
      if (file.bool(key).orElse(false)) {
        throw new InvalidInputException(
            "%s: %s is true; this encoder needs false".formatted(file.name(), key));
      }
    }
    int hidden = size(file, "n_embd", MAX_SIZE);
    int trained = file.integer("max_trained_positions").orElse(NOMIC_POSITIONS);
    return new BertConfig(
        Family.NOMIC_BERT,
        size(file, "n_layer", MAX_SIZE),
        hidden,
        size(file, "n_head", MAX_SIZE),
        file.has("n_inner") ? size(file, "n_inner", MAX_SIZE) : 4 * hidden,
        size(file, "vocab_size", MAX_VOCABULARY),
        Math.min(size(file, "n_positions", MAX_SIZE), trained),
        0,
        file.number("layer_norm_epsilon").orElse(1e-12).floatValue(),
        file.number("rotary_emb_base").orElse(10_000.0).floatValue());
  }

  public static BertConfig of(GgufFile file) {
    GgufMetadata metadata = file.metadata();
    Family family = Family.of(metadata).orElseThrow();
    String[] tokens =
        metadata
            .strings("tokenizer.ggml.tokens")
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        file.name() + ": 'tokenizer.ggml.tokens' is missing"));
    String prefix = family.architecture + ".";
    float base =
        family == Family.NOMIC_BERT
            ? metadata.number(prefix + "rope.freq_base").orElse(10_000.0).floatValue()
            : 0;
    BertConfig config =
        new BertConfig(
            family,
            size(file, prefix + "block_count"),
            size(file, prefix + "embedding_length"),
            size(file, prefix + "attention.head_count"),
            size(file, prefix + "feed_forward_length"),
            tokens.length,
            size(file, prefix + "context_length"),
            0, // converted files begin with the first position that is used
            metadata.number(prefix + "attention.layer_norm_epsilon").orElse(1e-12).floatValue(),
            base);
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
    if (hasRotaryPositions() && (headSize() % 2 != 0 || !(ropeBase > 1))) {
      throw new InvalidInputException(
          "%s: the rotary base is %s with heads of %d; expected more than 1 and an even size"
              .formatted(name, ropeBase, headSize()));
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

  boolean hasRotaryPositions() {
    return ropeBase > 0;
  }
}
