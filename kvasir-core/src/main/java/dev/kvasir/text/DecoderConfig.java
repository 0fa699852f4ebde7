package dev.kvasir.text;

import com.google.gson.JsonElement;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.JsonFile;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Recognises the decoders of tokenizer.json that concatenate the bytes of tokens. All known
 * generative models have one. Decoders that look at neighbouring tokens (WordPiece, CTC) are
 * rejected.
 */
final class DecoderConfig {
  /**
   * Steps of a SentencePiece decoder: spaces, bytes, concatenation, and removal of the leading
   * space.
   */
  private static final Set<String> PIECE_STEPS = Set.of("Replace", "ByteFallback", "Fuse", "Strip");

  private DecoderConfig() {}

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
