package dev.kvasir.text;

import dev.kvasir.error.InvalidInputException;

/**
 * Writes the byte-level BPE vocabulary of a GGUF file as a tokenizer.json. The text, some
 * megabytes, is built by hand: before JIT compilation a JSON writer takes as long as the library
 * takes to parse it.
 */
final class ByteLevelJson {
  private static final String HEAD =
      """
      {"version":"1.0","truncation":null,"padding":null,"normalizer":null,"post_processor":null,\
      "decoder":null,"added_tokens":[""";

  private final GgufVocabulary source;
  private final StringBuilder json;

  private ByteLevelJson(GgufVocabulary source) {
    this.source = source;
    // About 16 characters per token and as many per merge.
    this.json = new StringBuilder(1024 + 32 * source.tokens().length);
  }

  static String of(GgufVocabulary source, PreTokenizer preTokenizer) {
    ByteLevelJson writer = new ByteLevelJson(source);
    writer.write(preTokenizer);
    return writer.json.toString();
  }

  private void write(PreTokenizer preTokenizer) {
    json.append(HEAD);
    writeAddedTokens();
    json.append("],\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[");
    preTokenizer.patterns().forEach(this::writeSplit);
    json.append(
        """
        {"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}]},\
        "model":{"type":"BPE","ignore_merges":%s,"vocab":{"""
            .formatted(preTokenizer.ignoresMerges()));
    writeVocabulary();
    json.append("},\"merges\":[");
    writeMerges();
    json.append("]}}");
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
