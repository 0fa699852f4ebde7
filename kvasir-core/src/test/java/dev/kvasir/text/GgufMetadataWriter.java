package dev.kvasir.text;

import dev.kvasir.format.GgufFile;
import dev.kvasir.format.GgufMetadata;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Writes GGUF metadata without tensors and reads it back, for synthetic vocabularies. */
final class GgufMetadataWriter {
  private static final int INT32 = 5;
  private static final int FLOAT32 = 6;
  private static final int BOOL = 7;
  private static final int STRING = 8;
  private static final int ARRAY = 9;

  private final Map<String, Object> pairs = new LinkedHashMap<>();
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  /** Adds a value: an Integer, Boolean, String, int[], float[] or String[]. */
  GgufMetadataWriter with(String key, Object value) {
    pairs.put(key, value);
    return this;
  }

  Tokenizer tokenizer() {
    return Tokenizer.ofGguf("test.gguf", metadata());
  }

  GgufMetadata metadata() {
    bytes.reset();
    bytes.writeBytes("GGUF".getBytes(StandardCharsets.US_ASCII));
    int32(3);
    int64(0);
    int64(pairs.size());
    pairs.forEach(
        (key, value) -> {
          string(key);
          value(value);
        });
    bytes.writeBytes(new byte[32]);
    Arena arena = Arena.ofShared();
    MemorySegment segment = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes.toByteArray());
    try (GgufFile file = GgufFile.of("test.gguf", segment, arena)) {
      return file.metadata();
    }
  }

  private void value(Object value) {
    switch (value) {
      case Integer number -> {
        int32(INT32);
        int32(number);
      }
      case Boolean flag -> {
        int32(BOOL);
        bytes.write(flag ? 1 : 0);
      }
      case String text -> {
        int32(STRING);
        string(text);
      }
      case int[] numbers -> {
        array(INT32, numbers.length);
        for (int number : numbers) {
          int32(number);
        }
      }
      case float[] numbers -> {
        array(FLOAT32, numbers.length);
        for (float number : numbers) {
          int32(Float.floatToIntBits(number));
        }
      }
      case String[] texts -> {
        array(STRING, texts.length);
        for (String text : texts) {
          string(text);
        }
      }
      default -> throw new IllegalArgumentException("no GGUF type for " + value.getClass());
    }
  }

  private void array(int elementType, int length) {
    int32(ARRAY);
    int32(elementType);
    int64(length);
  }

  private void string(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    int64(utf8.length);
    bytes.writeBytes(utf8);
  }

  private void int32(int value) {
    bytes.writeBytes(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
  }

  private void int64(long value) {
    bytes.writeBytes(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
  }
}
