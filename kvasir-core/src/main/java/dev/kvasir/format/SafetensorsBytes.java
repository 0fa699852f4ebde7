package dev.kvasir.format;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Writes safetensors files of any length. The output does not depend on the order of the tensors.
 */
public final class SafetensorsBytes {
  /** The header is padded to this, so that data are aligned. */
  private static final int ALIGNMENT = 8;

  /** The channel copies heap data, so this limits its temporary buffer. */
  private static final long CHUNK_BYTES = 1 << 20;

  private SafetensorsBytes() {}

  public static void write(
      Collection<Tensor> tensors, Map<String, String> metadata, WritableByteChannel out)
      throws IOException {
    List<Tensor> ordered = tensors.stream().sorted(Comparator.comparing(Tensor::name)).toList();
    byte[] head = head(ordered, metadata);
    ByteBuffer length = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    writeFully(length.putLong(head.length).flip(), out);
    writeFully(ByteBuffer.wrap(head), out);
    for (Tensor tensor : ordered) {
      MemorySegment data = tensor.data();
      for (long at = 0; at < data.byteSize(); at += CHUNK_BYTES) {
        long chunk = Math.min(CHUNK_BYTES, data.byteSize() - at);
        writeFully(data.asSlice(at, chunk).asByteBuffer(), out);
      }
    }
  }

  private static void writeFully(ByteBuffer bytes, WritableByteChannel out) throws IOException {
    while (bytes.hasRemaining()) {
      out.write(bytes);
    }
  }

  private static byte[] head(List<Tensor> tensors, Map<String, String> metadata) {
    JsonObject head = new JsonObject();
    JsonObject notes = new JsonObject();
    metadata.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(note -> notes.addProperty(note.getKey(), note.getValue()));
    head.add("__metadata__", notes);
    long at = 0;
    for (Tensor tensor : tensors) {
      long end = at + tensor.data().byteSize();
      JsonObject entry = new JsonObject();
      entry.addProperty("dtype", tensor.type().name());
      entry.add("shape", array(tensor.shape()));
      entry.add("data_offsets", array(at, end));
      head.add(tensor.name(), entry);
      at = end;
    }
    byte[] text = head.toString().getBytes(StandardCharsets.UTF_8);
    byte[] padded = Arrays.copyOf(text, Math.ceilDiv(text.length, ALIGNMENT) * ALIGNMENT);
    Arrays.fill(padded, text.length, padded.length, (byte) ' ');
    return padded;
  }

  private static JsonArray array(long... numbers) {
    JsonArray array = new JsonArray();
    Arrays.stream(numbers).forEach(array::add);
    return array;
  }
}
