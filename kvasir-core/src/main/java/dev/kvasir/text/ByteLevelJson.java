package dev.kvasir.text;

import com.google.gson.stream.JsonWriter;
import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;

/** Writes the byte-level BPE vocabulary of a GGUF file as the tokenizer.json it came from. */
final class ByteLevelJson {
  private final GgufVocabulary source;
  private final StringWriter text;
  private final JsonWriter json;

  private ByteLevelJson(GgufVocabulary source) {
    this.source = source;
    // Some 30 characters for a token and as much for a merge spare most of the doubling.
    this.text = new StringWriter(64 * source.tokens().length + 1024);
    this.json = new JsonWriter(text);
    json.setHtmlSafe(false);
    json.setSerializeNulls(true);
  }

  static String of(GgufVocabulary source, PreTokenizer preTokenizer) {
    ByteLevelJson writer = new ByteLevelJson(source);
    try {
      writer.write(preTokenizer);
      return writer.text.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a StringWriter never fails
    }
  }

  private void write(PreTokenizer preTokenizer) throws IOException {
    json.beginObject().name("version").value("1.0");
    for (String absent :
        List.of("truncation", "padding", "normalizer", "post_processor", "decoder")) {
      json.name(absent).nullValue();
    }
    writeAddedTokens();
    writePreTokenizer(preTokenizer.patterns());
    json.name("model").beginObject().name("type").value("BPE");
    json.name("ignore_merges").value(preTokenizer.prefersWholeWords());
    writeVocabulary();
    writeMerges();
    json.endObject().endObject();
  }

  private void writeAddedTokens() throws IOException {
    json.name("added_tokens").beginArray();
    for (int id = 0; id < source.tokens().length; id++) {
      if (source.types()[id].standsApart()) {
        json.beginObject().name("id").value(id).name("content").value(source.tokens()[id]);
        for (String absent : List.of("single_word", "lstrip", "rstrip", "normalized")) {
          json.name(absent).value(false);
        }
        json.name("special").value(source.special().get(id)).endObject();
      }
    }
    json.endArray();
  }

  private void writePreTokenizer(List<String> patterns) throws IOException {
    json.name("pre_tokenizer").beginObject().name("type").value("Sequence");
    json.name("pretokenizers").beginArray();
    for (String pattern : patterns) {
      json.beginObject().name("type").value("Split");
      json.name("pattern").beginObject().name("Regex").value(pattern).endObject();
      json.name("behavior").value("Isolated").name("invert").value(false).endObject();
    }
    json.beginObject().name("type").value("ByteLevel").name("add_prefix_space").value(false);
    json.name("trim_offsets").value(true).name("use_regex").value(false).endObject();
    json.endArray().endObject();
  }

  private void writeVocabulary() throws IOException {
    json.name("vocab").beginObject();
    for (int id = 0; id < source.tokens().length; id++) {
      json.name(source.tokens()[id]).value(id);
    }
    json.endObject();
  }

  private void writeMerges() throws IOException {
    json.name("merges").beginArray();
    String[] merges = source.merges();
    for (int rank = 0; rank < merges.length; rank++) {
      int gap = merges[rank].indexOf(' ', 1);
      if (gap < 0) {
        throw new InvalidInputException(
            "%s: merge %d of 'tokenizer.ggml.merges' is \"%s\"; expected two tokens and a space"
                .formatted(source.fileName(), rank, merges[rank]));
      }
      json.beginArray().value(merges[rank].substring(0, gap));
      json.value(merges[rank].substring(gap + 1)).endArray();
    }
    json.endArray();
  }
}
