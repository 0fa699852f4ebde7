package dev.kvasir.format;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * An open safetensors file.
 *
 * <pre>
 * u64 length | JSON: {"name": {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {}}
 * data, each tensor from begin to end
 * </pre>
 */
public final class SafetensorsFile implements TensorSource {
  /** The format's own limit; a header of a large model takes a few hundred kilobytes. */
  private static final long MOST_HEADER_BYTES = 100_000_000;

  private final String name;
  private final Map<String, Tensor> tensors;
  private final Map<String, String> unsupported;
  private final Map<String, String> metadata;
  private final Arena arena;

  private SafetensorsFile(MappedFile file) {
    this.name = file.name();
    this.arena = file.arena();
    this.tensors = new LinkedHashMap<>();
    this.unsupported = new LinkedHashMap<>();
    this.metadata = new LinkedHashMap<>();
    read(file.bytes());
  }

  /** Maps the file; nothing but its head is read. */
  public static SafetensorsFile open(Path file) {
    return of(MappedFile.open(file));
  }

  /** A safetensors file that already lies in memory; closing the result closes the arena. */
  public static SafetensorsFile of(String name, MemorySegment bytes, Arena arena) {
    return of(new MappedFile(name, bytes, arena));
  }

  private static SafetensorsFile of(MappedFile mapped) {
    try {
      return new SafetensorsFile(mapped);
    } catch (RuntimeException | Error e) {
      mapped.arena().close();
      throw e;
    }
  }

  private void read(MemorySegment bytes) {
    ByteCursor cursor = new ByteCursor(name, bytes, bytes.byteSize());
    long length = cursor.int64("the header length");
    long most = Math.min(cursor.remaining(), MOST_HEADER_BYTES);
    if (length < 2 || length > most) {
      throw cursor.malformed(
          "the header length is %s; expected 2 to %d, so this is no safetensors file or a truncated one"
              .formatted(Long.toUnsignedString(length), most));
    }
    JsonObject header = JsonFile.parse(name, text(bytes.asSlice(8, length))).root();
    MemorySegment data = bytes.asSlice(8 + length);
    for (Map.Entry<String, JsonElement> entry : header.entrySet()) {
      if (entry.getKey().equals("__metadata__")) {
        readMetadata(entry.getValue());
      } else {
        place(entry.getKey(), JsonFile.of(at(entry.getKey()), entry.getValue()), data);
      }
    }
  }

  private void readMetadata(JsonElement element) {
    if (element instanceof JsonObject object) {
      object.entrySet().forEach(entry -> metadata.put(entry.getKey(), plain(entry.getValue())));
    }
  }

  private static String plain(JsonElement value) {
    return value.isJsonPrimitive() ? value.getAsString() : value.toString();
  }

  private void place(String tensorName, JsonFile entry, MemorySegment data) {
    String dtype = entry.string("dtype").orElseThrow(() -> entry.missing("dtype", "a string"));
    long[] shape = wholeNumbers(entry, "shape");
    long[] offsets = wholeNumbers(entry, "data_offsets");
    if (offsets.length != 2 || offsets[0] > offsets[1] || offsets[1] > data.byteSize()) {
      throw new InvalidInputException(
          "%s: 'data_offsets' is %s; expected begin and end within the %d bytes of data"
              .formatted(
                  entry.name(),
                  Excerpt.of(entry.root().get("data_offsets").toString()),
                  data.byteSize()));
    }
    Optional<GgmlType> type = type(dtype);
    if (type.isEmpty()) {
      unsupported.put(tensorName, dtype);
      return;
    }
    long size = Tensor.bytes(entry.name(), type.get(), shape);
    if (size != offsets[1] - offsets[0]) {
      throw new InvalidInputException(
          "%s: shape %s of %s takes %d bytes; 'data_offsets' span %d"
              .formatted(entry.name(), Tensor.text(shape), dtype, size, offsets[1] - offsets[0]));
    }
    MemorySegment slice = data.asSlice(offsets[0], size);
    tensors.put(tensorName, new Tensor(tensorName, type.get(), shape, slice));
  }

  private static Optional<GgmlType> type(String dtype) {
    return switch (dtype) {
      case "F32" -> Optional.of(GgmlType.F32);
      case "F16" -> Optional.of(GgmlType.F16);
      case "BF16" -> Optional.of(GgmlType.BF16);
      default -> Optional.empty();
    };
  }

  private static long[] wholeNumbers(JsonFile entry, String key) {
    var array = entry.array(key).orElseThrow(() -> entry.missing(key, "an array of numbers"));
    long[] numbers = new long[array.size()];
    for (int i = 0; i < numbers.length; i++) {
      JsonElement element = array.get(i);
      try {
        numbers[i] = element.getAsBigDecimal().longValueExact();
      } catch (ArithmeticException
          | NumberFormatException
          | IllegalStateException
          | UnsupportedOperationException e) {
        throw entry.wrong(key, array, "whole numbers");
      }
      if (numbers[i] < 0) {
        throw entry.wrong(key, array, "numbers of at least 0");
      }
    }
    return numbers;
  }

  private String at(String tensorName) {
    return "%s: tensor '%s'".formatted(name, Excerpt.of(tensorName));
  }

  private String text(MemorySegment utf8) {
    try {
      ByteBuffer buffer = ByteBuffer.wrap(utf8.toArray(ValueLayout.JAVA_BYTE));
      return StandardCharsets.UTF_8.newDecoder().decode(buffer).toString();
    } catch (CharacterCodingException e) {
      throw new InvalidInputException(name + ": the header is not valid UTF-8", e);
    }
  }

  @Override
  public String name() {
    return name;
  }

  /** What the writer noted about the file as a whole. */
  public Map<String, String> metadata() {
    return metadata;
  }

  @Override
  public Collection<Tensor> tensors() {
    return tensors.values();
  }

  @Override
  public Optional<Tensor> find(String tensorName) {
    if (unsupported.containsKey(tensorName)) {
      throw new InvalidInputException(
          "%s: has dtype %s; supported are F32, F16, BF16"
              .formatted(at(tensorName), unsupported.get(tensorName)));
    }
    return Optional.ofNullable(tensors.get(tensorName));
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
