package dev.kvasir.format;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The bytes of a safetensors file, for tensors that fit in memory. The same tensors and notes give
 * the same bytes, in whatever order they come.
 */
public final class SafetensorsBytes {
  /** The header is padded to this, so that data begin aligned. */
  private static final int ALIGNMENT = 8;

  private SafetensorsBytes() {}

  public static byte[] of(Collection<Tensor> tensors, Map<String, String> metadata) {
    List<Tensor> ordered = tensors.stream().sorted(Comparator.comparing(Tensor::name)).toList();
    byte[] head = head(ordered, metadata);
    long dataBytes = ordered.stream().mapToLong(tensor -> tensor.data().byteSize()).sum();
    byte[] file = new byte[Math.toIntExact(Long.BYTES + head.length + dataBytes)];
    MemorySegment all = MemorySegment.ofArray(file);
    all.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, head.length);
    System.arraycopy(head, 0, file, Long.BYTES, head.length);
    long at = Long.BYTES + head.length;
    for (Tensor tensor : ordered) {
      MemorySegment.copy(tensor.data(), 0, all, at, tensor.data().byteSize());
      at += tensor.data().byteSize();
    }
    return file;
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
