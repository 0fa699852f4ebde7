package dev.kvasir.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Writes the folder of a BERT with one layer of random weights. */
final class TinyEncoder {
  private static final int SIZE = 4;
  private static final List<String> WORDS =
      List.of("[UNK]", "[CLS]", "[SEP]", "the", "sea", "is", "calm");

  private final Random random = new Random(3);
  private final List<String> header = new ArrayList<>();
  private final ByteArrayOutputStream data = new ByteArrayOutputStream();

  private TinyEncoder() {}

  /**
   * @param hasHead whether it scores pairs of texts
   */
  static Path write(Path folder, boolean hasHead) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(
        folder.resolve("config.json"),
        """
        {"model_type": "bert", "num_hidden_layers": 1, "hidden_size": 4, "num_attention_heads": 2,
         "intermediate_size": 4, "vocab_size": %d, "max_position_embeddings": 16}"""
            .formatted(WORDS.size()));
    Files.writeString(folder.resolve("tokenizer.json"), tokenizer());
    Files.write(folder.resolve("model.safetensors"), new TinyEncoder().weights(hasHead));
    return folder;
  }

  private static String tokenizer() {
    StringBuilder words = new StringBuilder();
    for (String word : WORDS) {
      words
          .append(words.isEmpty() ? "" : ",")
          .append("\"%s\":%d".formatted(word, WORDS.indexOf(word)));
    }
    return """
        {"version":"1.0","added_tokens":[],"pre_tokenizer":{"type":"BertPreTokenizer"},
         "post_processor":{"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]},
         "model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",
           "max_input_chars_per_word":100,"vocab":{%s}}}"""
        .formatted(words);
  }

  private byte[] weights(boolean hasHead) {
    add("embeddings.word_embeddings.weight", WORDS.size(), SIZE);
    add("embeddings.position_embeddings.weight", 16, SIZE);
    add("embeddings.token_type_embeddings.weight", 2, SIZE);
    addNorm("embeddings.LayerNorm");
    String layer = "encoder.layer.0.";
    for (String name :
        List.of(
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
            "intermediate.dense",
            "output.dense")) {
      addLinear(layer + name, SIZE);
    }
    addNorm(layer + "attention.output.LayerNorm");
    addNorm(layer + "output.LayerNorm");
    if (hasHead) {
      addLinear("pooler.dense", SIZE);
      addLinear("classifier", 1);
    }
    byte[] json = ("{" + String.join(",", header) + "}").getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(Long.BYTES + json.length + data.size())
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(json.length)
        .put(json)
        .put(data.toByteArray())
        .array();
  }

  private void addNorm(String name) {
    add(name + ".weight", SIZE);
    add(name + ".bias", SIZE);
  }

  private void addLinear(String name, int rows) {
    add(name + ".weight", rows, SIZE);
    add(name + ".bias", rows);
  }

  private void add(String name, int... shape) {
    int count = 1;
    StringBuilder sizes = new StringBuilder();
    for (int size : shape) {
      count *= size;
      sizes.append(sizes.isEmpty() ? "" : ",").append(size);
    }
    int from = data.size();
    ByteBuffer values = ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      values.putFloat((float) random.nextGaussian());
    }
    data.writeBytes(values.array());
    header.add(
        "\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%d,%d]}"
            .formatted(name, sizes, from, data.size()));
  }
}
