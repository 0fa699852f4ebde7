package kvasir.tools;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/**
 * The bundled model with only its first two layers. Its text is meaningless, but it suffices for
 * comparing the bits of two computations, in a quarter of the time. A module that uses it needs
 * kvasir-mini on its class path.
 */
public final class ShallowModel {
  private static final int LAYERS = 2;

  /** Methods that need a profile. */
  private static final Set<String> TRAINED = Set.of("commvq", "mead", "oscar", "vqllm");

  private static final int HEADER_BYTES = 24;
  private static final int ALIGNMENT = 32;
  private static final int UINT32 = 4;
  private static final int STRING = 8;

  private ShallowModel() {}

  /** Returns whether a cache type works without data learned from the whole model. */
  public static boolean serves(String spec) {
    return spec.contains("profile=none") || TRAINED.stream().noneMatch(spec::startsWith);
  }

  /** Writes the model file. */
  public static Path write(Path file) {
    return write(file, bytes());
  }

  /** Writes the file of a model with sliding-window attention over {@code window} tokens. */
  public static Path writeWindowed(Path file, int window) {
    byte[] known = entry("qwen2.attention.sliding_window", UINT32, uint32(window));
    int unfilled = known.length + entry("filling", STRING, new byte[8]).length;
    int missing = Math.floorMod(-unfilled, ALIGNMENT);
    byte[] text =
        ByteBuffer.allocate(8 + missing).order(ByteOrder.LITTLE_ENDIAN).putLong(missing).array();
    byte[] filling = entry("filling", STRING, text);
    byte[] model = bytes();
    ByteBuffer out =
        ByteBuffer.allocate(model.length + known.length + filling.length)
            .order(ByteOrder.LITTLE_ENDIAN);
    out.put(model, 0, HEADER_BYTES).put(known).put(filling);
    out.put(model, HEADER_BYTES, model.length - HEADER_BYTES);
    out.putLong(HEADER_BYTES - 8, out.getLong(HEADER_BYTES - 8) + 2); // entries of metadata
    return write(file, out.array());
  }

  private static Path write(Path file, byte[] bytes) {
    try {
      return Files.write(file, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the bundled file with a reduced layer count; the tensors of other layers are not read.
   */
  private static byte[] bytes() {
    try (InputStream stream =
        ClassLoader.getSystemResourceAsStream("dev/kvasir/mini/kvasir-mini-q8_0.gguf")) {
      byte[] model = stream.readAllBytes();
      byte[] key = entry("qwen2.block_count", UINT32, new byte[0]);
      System.arraycopy(uint32(LAYERS), 0, model, indexOf(model, key) + key.length, UINT32);
      return model;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int indexOf(byte[] bytes, byte[] wanted) {
    int at = 0;
    while (!ByteBuffer.wrap(bytes, at, wanted.length).equals(ByteBuffer.wrap(wanted))) {
      at++;
    }
    return at;
  }

  private static byte[] uint32(int value) {
    return ByteBuffer.allocate(UINT32).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array();
  }

  private static byte[] entry(String key, int type, byte[] value) {
    byte[] name = key.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(8 + name.length + 4 + value.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(name.length)
        .put(name)
        .putInt(type)
        .put(value)
        .array();
  }
}
