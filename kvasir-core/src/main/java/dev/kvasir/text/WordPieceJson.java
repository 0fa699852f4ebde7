package dev.kvasir.text;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufMetadata;
import java.util.List;

/**
 * Writes the word pieces of a GGUF file as a tokenizer.json. GGUF marks the pieces that begin a
 * word with U+2581 in front, where BERT marks those that continue one with {@code ##}. It does not
 * say whether a model is cased; like llama.cpp, this class lowers all letters.
 */
final class WordPieceJson {
  private static final String WORD_BEGIN = "\u2581";
  private static final String CONTINUATION = "##";
  private static final int NORMAL = 1;

  private WordPieceJson() {}

  static String of(String fileName, GgufMetadata metadata) {
    String model = metadata.requireString("tokenizer.ggml.model");
    if (!model.equals("bert")) {
      throw new InvalidInputException(
          "%s: 'tokenizer.ggml.model' is '%s'; an encoder needs 'bert'".formatted(fileName, model));
    }
    String[] tokens =
        metadata
            .strings("tokenizer.ggml.tokens")
            .orElseThrow(
                () -> new InvalidInputException(fileName + ": 'tokenizer.ggml.tokens' is missing"));
    long[] types = metadata.integers("tokenizer.ggml.token_type").orElse(new long[0]);
    JsonObject vocabulary = new JsonObject();
    for (int id = 0; id < tokens.length; id++) {
      boolean isNormal = id >= types.length || types[id] == NORMAL;
      vocabulary.addProperty(piece(tokens[id], isNormal), id);
    }
    for (String special : List.of("[UNK]", "[CLS]", "[SEP]")) {
      if (!vocabulary.has(special)) {
        throw new InvalidInputException(
            "%s: the vocabulary has no token '%s'".formatted(fileName, special));
      }
    }
    return tokenizer(vocabulary).toString();
  }

  private static String piece(String token, boolean isNormal) {
    if (token.startsWith(WORD_BEGIN)) {
      return token.substring(WORD_BEGIN.length());
    }
    // Older files give special tokens the type of normal ones.
    boolean isSpecial = !isNormal || token.matches("\\[[A-Za-z0-9]+\\]");
    return isSpecial ? token : CONTINUATION + token;
  }

  private static JsonObject tokenizer(JsonObject vocabulary) {
    JsonObject normalizer = typed("BertNormalizer");
    normalizer.addProperty("clean_text", true);
    normalizer.addProperty("handle_chinese_chars", true);
    normalizer.addProperty("lowercase", true);
    JsonObject processor = typed("BertProcessing");
    processor.add("sep", pair("[SEP]", vocabulary));
    processor.add("cls", pair("[CLS]", vocabulary));
    JsonObject model = typed("WordPiece");
    model.addProperty("unk_token", "[UNK]");
    model.addProperty("continuing_subword_prefix", CONTINUATION);
    model.addProperty("max_input_chars_per_word", 100);
    model.add("vocab", vocabulary);
    JsonObject root = new JsonObject();
    root.addProperty("version", "1.0");
    root.add("added_tokens", new JsonArray());
    root.add("normalizer", normalizer);
    root.add("pre_tokenizer", typed("BertPreTokenizer"));
    root.add("post_processor", processor);
    root.add("model", model);
    return root;
  }

  private static JsonObject typed(String type) {
    JsonObject object = new JsonObject();
    object.addProperty("type", type);
    return object;
  }

  private static JsonArray pair(String token, JsonObject vocabulary) {
    JsonArray pair = new JsonArray();
    pair.add(token);
    pair.add(vocabulary.get(token));
    return pair;
  }
}
