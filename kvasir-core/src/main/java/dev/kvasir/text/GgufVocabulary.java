package dev.kvasir.text;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufMetadata;
import java.util.BitSet;
import java.util.OptionalInt;

/** The tokens of a GGUF file and their types, checked for consistency. */
record GgufVocabulary(
    String fileName, GgufMetadata metadata, String[] tokens, TokenType[] types, BitSet special) {

  /** The values 0 to 6 of {@code tokenizer.ggml.token_type}, in order. */
  enum TokenType {
    UNDEFINED,
    NORMAL,
    UNKNOWN,
    CONTROL,
    USER_DEFINED,
    UNUSED,
    BYTE;

    /** Returns whether the token is matched in the text before pre-tokenization. */
    boolean isAddedToken() {
      return this == CONTROL || this == USER_DEFINED || this == UNKNOWN;
    }
  }

  static GgufVocabulary read(String fileName, GgufMetadata metadata) {
    String[] tokens =
        metadata
            .strings("tokenizer.ggml.tokens")
            .orElseThrow(() -> missing(fileName, "tokenizer.ggml.tokens"))
            .clone();
    long[] numbers = metadata.integers("tokenizer.ggml.token_type").orElse(null);
    if (numbers != null && numbers.length != tokens.length) {
      throw wrongLength(fileName, "tokenizer.ggml.token_type", numbers.length, tokens.length);
    }
    TokenType[] types = new TokenType[tokens.length];
    BitSet special = new BitSet(tokens.length);
    for (int id = 0; id < tokens.length; id++) {
      if (tokens[id].isEmpty()) {
        tokens[id] = "[EMPTY_" + id + "]";
      }
      types[id] = numbers == null ? TokenType.NORMAL : type(fileName, id, numbers[id]);
      special.set(id, types[id] == TokenType.CONTROL || types[id] == TokenType.UNKNOWN);
    }
    return new GgufVocabulary(fileName, metadata, tokens, types, special);
  }

  /** Returns the scores that order SentencePiece merges. */
  float[] scores() {
    String key = "tokenizer.ggml.scores";
    float[] scores = metadata.floats(key).orElseThrow(() -> missing(fileName, key));
    if (scores.length != tokens.length) {
      throw wrongLength(fileName, key, scores.length, tokens.length);
    }
    return scores;
  }

  String[] merges() {
    String key = "tokenizer.ggml.merges";
    return metadata.strings(key).orElseThrow(() -> missing(fileName, key));
  }

  /** Returns the id under {@code tokenizer.ggml.NAME_token_id}. */
  OptionalInt id(String name) {
    String key = "tokenizer.ggml." + name + "_token_id";
    OptionalInt id = metadata.integer(key);
    if (id.isPresent() && id.getAsInt() >= tokens.length) {
      throw new InvalidInputException(
          "%s: '%s' is %d; expected less than the %d tokens"
              .formatted(fileName, key, id.getAsInt(), tokens.length));
    }
    return id;
  }

  boolean flag(String name, boolean otherwise) {
    return metadata.bool("tokenizer.ggml." + name).orElse(otherwise);
  }

  Vocabulary vocabulary(TokenEncoding encoding) {
    BitSet literal = new BitSet(tokens.length);
    for (int id = 0; id < tokens.length; id++) {
      literal.set(id, types[id].isAddedToken());
    }
    return new Vocabulary(tokens, encoding, literal, special);
  }

  private static TokenType type(String fileName, int id, long number) {
    TokenType[] known = TokenType.values();
    if (number < 0 || number >= known.length) {
      throw new InvalidInputException(
          "%s: 'tokenizer.ggml.token_type' of token %d is %d; expected 0 to %d"
              .formatted(fileName, id, number, known.length - 1));
    }
    return known[(int) number];
  }

  private static InvalidInputException missing(String fileName, String key) {
    return new InvalidInputException(
        "%s: '%s' is missing; expected an array".formatted(fileName, key));
  }

  private static InvalidInputException wrongLength(
      String fileName, String key, int found, int expected) {
    return new InvalidInputException(
        "%s: '%s' has %d entries; expected one for each of the %d tokens"
            .formatted(fileName, key, found, expected));
  }
}
