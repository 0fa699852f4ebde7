package dev.kvasir.text;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The parts of a tokenizer.json that decoding needs. It is read as a stream, since the merges, most
 * of the file, are for the encoder only.
 */
final class TokenizerJson {
  /** The largest known vocabularies have 2^18 tokens; an id above 2^22 means a damaged file. */
  private static final int MAX_TOKEN_ID = (1 << 22) - 1;

  private final String fileName;
  private final List<String> texts = new ArrayList<>();
  private final BitSet added = new BitSet();
  private final BitSet special = new BitSet();
  private JsonElement addedTokens = new JsonArray();
  private JsonElement decoder = new JsonObject();
  private String modelType = "BPE"; // very old files omit it

  private TokenizerJson(String fileName) {
    this.fileName = fileName;
  }

  static TokenizerJson parse(String fileName, String json) {
    TokenizerJson result = new TokenizerJson(fileName);
    JsonReader reader = new JsonReader(new StringReader(json));
    reader.setStrictness(Strictness.STRICT);
    try {
      result.readRoot(reader);
      result.readAddedTokens();
    } catch (JsonParseException
        | IOException
        | IllegalStateException
        | NumberFormatException
        | UnsupportedOperationException e) {
      throw new InvalidInputException(
          "%s: is no tokenizer: %s".formatted(fileName, firstLine(e.getMessage())), e);
    }
    return result;
  }

  Vocabulary vocabulary() {
    return new Vocabulary(texts.toArray(String[]::new), encoding(), added, special);
  }

  String description() {
    return "%s %s, %d tokens".formatted(encoding().title(), modelType, texts.size());
  }

  /** Returns the encoding, derived from the decoder. */
  TokenEncoding encoding() {
    String json = decoder.isJsonNull() ? "{}" : decoder.toString();
    return DecoderConfig.of(fileName, JsonFile.parse(fileName + " 'decoder'", json));
  }

  private void readRoot(JsonReader reader) throws IOException {
    reader.beginObject();
    while (reader.hasNext()) {
      switch (reader.nextName()) {
        case "added_tokens" -> addedTokens = JsonParser.parseReader(reader);
        case "decoder" -> decoder = JsonParser.parseReader(reader);
        case "model" -> readModel(reader);
        default -> reader.skipValue();
      }
    }
    reader.endObject();
  }

  private void readModel(JsonReader reader) throws IOException {
    reader.beginObject();
    while (reader.hasNext()) {
      switch (reader.nextName()) {
        case "type" -> modelType = reader.nextString();
        case "vocab" -> readVocabulary(reader);
        default -> reader.skipValue();
      }
    }
    reader.endObject();
  }

  /** Reads {@code {token: id}}, or for Unigram {@code [[token, score]]} in order of id. */
  private void readVocabulary(JsonReader reader) throws IOException {
    if (reader.peek() == JsonToken.BEGIN_OBJECT) {
      reader.beginObject();
      while (reader.hasNext()) {
        String token = reader.nextName();
        put(reader.nextInt(), token);
      }
      reader.endObject();
      return;
    }
    reader.beginArray();
    for (int id = 0; reader.hasNext(); id++) {
      reader.beginArray();
      put(id, reader.nextString());
      reader.nextDouble();
      reader.endArray();
    }
    reader.endArray();
  }

  private void readAddedTokens() {
    for (JsonElement element : addedTokens.getAsJsonArray()) {
      JsonFile token = JsonFile.parse(fileName + " 'added_tokens'", element.toString());
      int id = token.requireInteger("id");
      put(id, token.string("content").orElseThrow(() -> token.missing("content", "a string")));
      added.set(id);
      special.set(id, token.bool("special").orElse(false));
    }
  }

  private void put(int id, String text) {
    if (id < 0 || id > MAX_TOKEN_ID) {
      throw new InvalidInputException(
          "%s: token \"%s\" has id %d; expected 0 to %d"
              .formatted(fileName, text, id, MAX_TOKEN_ID));
    }
    while (texts.size() <= id) {
      texts.add(null);
    }
    texts.set(id, text);
  }

  /** Gson adds the URL of a help page on a second line. */
  private static String firstLine(String message) {
    return message == null ? "it ends early" : message.lines().findFirst().orElse("it ends early");
  }

  /**
   * Recognises the decoders of tokenizer.json that concatenate the bytes of tokens. All known
   * generative models have one. Decoders that look at neighbouring tokens (WordPiece, CTC) are
   * rejected.
   */
  private static final class DecoderConfig {
    /**
     * Steps of a SentencePiece decoder: spaces, bytes, concatenation, and removal of the leading
     * space.
     */
    private static final Set<String> PIECE_STEPS =
        Set.of("Replace", "ByteFallback", "Fuse", "Strip");

    static TokenEncoding of(String fileName, JsonFile decoder) {
      List<String> steps = new ArrayList<>();
      collect(decoder, steps);
      Set<String> distinct = new HashSet<>(steps);
      if (distinct.equals(Set.of("ByteLevel"))) {
        return TokenEncoding.BYTE_LEVEL;
      }
      if (distinct.equals(Set.of("Metaspace"))
          || distinct.contains("Replace") && PIECE_STEPS.containsAll(distinct)) {
        return TokenEncoding.SENTENCE_PIECE;
      }
      throw new InvalidInputException(
          "%s: 'decoder' is %s; expected ByteLevel, Metaspace, or a sequence of Replace, ByteFallback,"
                  .formatted(fileName, steps.isEmpty() ? "absent" : String.join(", ", steps))
              + " Fuse and Strip");
    }

    private static void collect(JsonFile decoder, List<String> steps) {
      String type = decoder.string("type").orElse("");
      if (!type.equals("Sequence")) {
        if (!type.isEmpty()) {
          steps.add(type);
        }
        return;
      }
      for (JsonElement step :
          decoder.array("decoders").orElseThrow(() -> decoder.missing("decoders", "an array"))) {
        collect(JsonFile.parse(decoder.name(), step.toString()), steps);
      }
    }
  }
}
