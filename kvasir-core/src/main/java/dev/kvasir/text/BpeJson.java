package dev.kvasir.text;

import dev.kvasir.error.InvalidInputException;

/**
 * Writes the BPE vocabulary of a GGUF file as a tokenizer.json. The text, some megabytes, is built
 * by hand: before JIT compilation a JSON writer takes as long as the library takes to parse it.
 */
final class BpeJson {
  private static final String HEAD =
      """
      {"version":"1.0","truncation":null,"padding":null,"post_processor":null,"decoder":null,\
      "added_tokens":[\
      """;

  private final GgufVocabulary source;
  private final StringBuilder json;

  private BpeJson(GgufVocabulary source) {
    this.source = source;
    // About 16 characters per token and as many per merge.
    this.json = new StringBuilder(1024 + 32 * source.tokens().length);
  }

  /** Writes a vocabulary of bytes, whose text is split into words. */
  static String ofBytes(GgufVocabulary source, PreTokenizer preTokenizer) {
    BpeJson writer = new BpeJson(source);
    writer.writeHead();
    writer.json.append(",\"normalizer\":null,\"pre_tokenizer\":");
    writer.writeSplits(preTokenizer);
    writer.json.append(
        ",\"model\":{\"type\":\"BPE\",\"ignore_merges\":" + preTokenizer.ignoresMerges());
    return writer.finished();
  }

  /**
   * Writes a vocabulary of characters, which merges the text as a whole, with U+2581 for spaces.
   * Characters without a token become bytes.
   *
   * @param unknown the token of bytes without a token, or -1
   */
  static String ofCharacters(GgufVocabulary source, int unknown) {
    BpeJson writer = new BpeJson(source);
    writer.writeHead();
    writer.json.append(
        """
        ,"normalizer":{"type":"Replace","pattern":{"String":" "},"content":"%s"},\
        "pre_tokenizer":null,\
        "model":{"type":"BPE","byte_fallback":true,"fuse_unk":true,"unk_token":\
        """
            .formatted(TokenEncoding.SPACE));
    if (unknown < 0) {
      writer.json.append("null");
    } else {
      writer.quote(source.tokens()[unknown]);
    }
    return writer.finished();
  }

  private void writeHead() {
    json.append(HEAD);
    writeAddedTokens();
    json.append(']');
  }

  private void writeSplits(PreTokenizer preTokenizer) {
    json.append("{\"type\":\"Sequence\",\"pretokenizers\":[");
    preTokenizer.patterns().forEach(this::writeSplit);
    json.append(
        """
        {"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}]}\
        """);
  }

  private String finished() {
    json.append(",\"vocab\":{");
    writeVocabulary();
    json.append("},\"merges\":[");
    writeMerges();
    return json.append("]}}").toString();
  }

  private void writeAddedTokens() {
    String separator = "";
    for (int id = 0; id < source.tokens().length; id++) {
      if (source.types()[id].isAddedToken()) {
        json.append(separator).append("{\"id\":").append(id).append(",\"content\":");
        quote(source.tokens()[id]);
        json.append(
            ",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false");
        json.append(",\"special\":").append(source.special().get(id)).append('}');
        separator = ",";
      }
    }
  }

  private void writeSplit(String pattern) {
    json.append("{\"type\":\"Split\",\"pattern\":{\"Regex\":");
    quote(pattern);
    json.append("},\"behavior\":\"Isolated\",\"invert\":false},");
  }

  private void writeVocabulary() {
    for (int id = 0; id < source.tokens().length; id++) {
      json.append(id == 0 ? "" : ",");
      quote(source.tokens()[id]);
      json.append(':').append(id);
    }
  }

  private void writeMerges() {
    String[] merges = source.merges();
    for (int rank = 0; rank < merges.length; rank++) {
      int gap = merges[rank].indexOf(' ');
      if (gap < 1 || gap == merges[rank].length() - 1 || merges[rank].indexOf(' ', gap + 1) >= 0) {
        throw new InvalidInputException(
            "%s: merge %d of 'tokenizer.ggml.merges' is \"%s\"; expected two tokens and a space"
                .formatted(source.fileName(), rank, merges[rank]));
      }
      json.append(rank == 0 ? "" : ",");
      quote(merges[rank]);
    }
  }

  private void quote(String text) {
    json.append('"');
    int copied = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\' || c < ' ') {
        json.append(text, copied, i);
        json.append(c < ' ' ? "\\u%04x".formatted((int) c) : "\\" + c);
        copied = i + 1;
      }
    }
    json.append(text, copied, text.length()).append('"');
  }
}
