package dev.kvasir.cli.run;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes a GGUF file with a SentencePiece vocabulary and nothing else. */
final class VocabularyFile {
  private static final int UINT32 = 4;
  private static final int INT32 = 5;
  private static final int FLOAT32 = 6;
  private static final int STRING = 8;
  private static final int ARRAY = 9;

  private final ByteArrayOutputStream pairs = new ByteArrayOutputStream();
  private int pairCount;

  private VocabularyFile() {}

  /** Control tokens first, then letters; {@code template} may be null. */
  static Path write(Path file, String template) throws IOException {
    VocabularyFile out = new VocabularyFile();
    out.text("general.architecture", "llama");
    out.text("general.name", "letters");
    out.text("tokenizer.ggml.model", "llama");
    List<String> tokens = List.of("<unk>", "<s>", "</s>", "\u2581", "a", "b", "\n", "\u2581a");
    out.array("tokenizer.ggml.tokens", STRING, tokens.size());
    tokens.forEach(out::string);
    out.array("tokenizer.ggml.scores", FLOAT32, tokens.size());
    for (int id = 0; id < tokens.size(); id++) {
      out.int32(Float.floatToIntBits(-id));
    }
    out.array("tokenizer.ggml.token_type", INT32, tokens.size());
    for (int id = 0; id < tokens.size(); id++) {
      out.int32(id == 0 ? 2 : id < 3 ? 3 : 1); // unknown, control, normal
    }
    out.number("tokenizer.ggml.bos_token_id", 1);
    out.number("tokenizer.ggml.eos_token_id", 2);
    out.number("tokenizer.ggml.unknown_token_id", 0);
    if (template != null) {
      out.text("tokenizer.chat_template", template);
    }
    ByteBuffer head = ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN);
    head.put("GGUF".getBytes(StandardCharsets.US_ASCII)).putInt(3).putLong(0);
    head.putLong(out.pairCount);
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    whole.writeBytes(head.array());
    whole.writeBytes(out.pairs.toByteArray());
    return Files.write(file, whole.toByteArray());
  }

  private void text(String key, String value) {
    key(key, STRING);
    string(value);
  }

  private void number(String key, int value) {
    key(key, UINT32);
    int32(value);
  }

  private void array(String key, int type, int length) {
    key(key, ARRAY);
    int32(type);
    int64(length);
  }

  private void key(String key, int type) {
    string(key);
    int32(type);
    pairCount++;
  }

  private void string(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int64(bytes.length);
    pairs.writeBytes(bytes);
  }

  private void int32(int value) {
    pairs.writeBytes(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
  }

  private void int64(long value) {
    pairs.writeBytes(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
  }
}
