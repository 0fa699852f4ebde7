package dev.kvasir.format;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The header of a safetensors file.
 *
 * <pre>
 * u64 length | JSON: {"name": {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__": {}}
 * data, each tensor from begin to end
 * </pre>
 */
final class SafetensorsHeader {
  /** The limit of the format; the header of a large model takes a few hundred kilobytes. */
  private static final long MAX_HEADER_BYTES = 100_000_000;

  private static final int MAX_DIMENSIONS = 8;

  /** The byte range of a tensor. */
  private record Extent(String tensorName, long begin, long end) {}

  private final String fileName;
  private final Map<String, Tensor> tensors = new LinkedHashMap<>();
  private final Map<String, String> unsupported = new LinkedHashMap<>();
  private final Map<String, ByteTensor> byteTensors = new LinkedHashMap<>();
  private final Map<String, String> metadata = new LinkedHashMap<>();
  private final List<Extent> extents = new ArrayList<>();

  private SafetensorsHeader(String fileName) {
    this.fileName = fileName;
  }

  static SafetensorsHeader read(String fileName, MemorySegment bytes) {
    ByteCursor cursor = new ByteCursor(fileName, bytes, bytes.byteSize());
    long length = cursor.int64("the header length");
    long max = Math.min(cursor.remaining(), MAX_HEADER_BYTES);
    if (length < 2 || length > max) {
      throw cursor.malformed(
          "the header length is %s; expected 2 to %d, so this is no safetensors file or a truncated one"
              .formatted(Long.toUnsignedString(length), max));
    }
    JsonFile json = JsonFile.parse(fileName, text(fileName, bytes.asSlice(8, length)));
    SafetensorsHeader header = new SafetensorsHeader(fileName);
    header.readEntries(json, bytes.asSlice(8 + length));
    header.refuseOverlaps();
    return header;
  }

  Map<String, Tensor> tensors() {
    return tensors;
  }

  /** Returns the dtype of each tensor whose type is not supported. */
  Map<String, String> unsupported() {
    return unsupported;
  }

  /** Returns the unsupported tensors of unsigned bytes and of 8-bit floats. */
  Map<String, ByteTensor> byteTensors() {
    return byteTensors;
  }

  Map<String, String> metadata() {
    return metadata;
  }

  private void readEntries(JsonFile json, MemorySegment data) {
    for (Map.Entry<String, JsonElement> entry : json.root().entrySet()) {
      String key = entry.getKey();
      if (key.equals("__metadata__")) {
        json.object(key).ifPresent(this::readMetadata);
      } else {
        String where = "%s: tensor '%s'".formatted(fileName, Excerpt.of(key));
        addTensor(key, JsonFile.of(where, entry.getValue()), data);
      }
    }
  }

  private void readMetadata(JsonFile notes) {
    for (String key : notes.root().keySet()) {
      metadata.put(key, notes.string(key).orElseThrow(() -> notes.missing(key, "a string")));
    }
  }

  private void addTensor(String tensorName, JsonFile entry, MemorySegment data) {
    String dtype = entry.string("dtype").orElseThrow(() -> entry.missing("dtype", "a string"));
    long[] shape = wholeNumbers(entry, "shape");
    if (shape.length > MAX_DIMENSIONS) {
      throw new InvalidInputException(
          "%s: has %d dimensions; expected at most %d"
              .formatted(entry.name(), shape.length, MAX_DIMENSIONS));
    }
    long[] offsets = wholeNumbers(entry, "data_offsets");
    if (offsets.length != 2 || offsets[0] > offsets[1] || offsets[1] > data.byteSize()) {
      throw new InvalidInputException(
          "%s: 'data_offsets' is %s; expected begin and end within the %d bytes of data"
              .formatted(
                  entry.name(),
                  Excerpt.of(entry.root().get("data_offsets").toString()),
                  data.byteSize()));
    }
    extents.add(new Extent(Excerpt.of(tensorName), offsets[0], offsets[1]));
    MemorySegment slice = data.asSlice(offsets[0], offsets[1] - offsets[0]);
    Optional<GgmlType> type = type(dtype);
    if (type.isPresent()) {
      checkSpan(entry, dtype, shape, Tensor.bytes(entry.name(), type.get(), shape), slice);
      tensors.put(tensorName, new Tensor(tensorName, type.get(), shape, slice));
      return;
    }
    unsupported.put(tensorName, dtype);
    if (dtype.equals("U8") || dtype.equals("F8_E4M3")) {
      checkSpan(entry, dtype, shape, Tensor.values(entry.name(), shape), slice);
      byteTensors.put(tensorName, new ByteTensor(dtype, shape, slice));
    }
  }

  private static void checkSpan(
      JsonFile entry, String dtype, long[] shape, long size, MemorySegment slice) {
    if (size != slice.byteSize()) {
      throw new InvalidInputException(
          "%s: shape %s of %s takes %d bytes; 'data_offsets' span %d"
              .formatted(entry.name(), Tensor.text(shape), dtype, size, slice.byteSize()));
    }
  }

  /** The format forbids overlaps, which would hide one tensor in another. */
  private void refuseOverlaps() {
    extents.sort(Comparator.comparingLong(Extent::begin).thenComparingLong(Extent::end));
    for (int i = 1; i < extents.size(); i++) {
      Extent before = extents.get(i - 1);
      Extent after = extents.get(i);
      if (after.begin() < before.end()) {
        throw new InvalidInputException(
            "%s: tensor '%s' begins at byte %d of the data, inside tensor '%s' that ends at %d"
                .formatted(
                    fileName,
                    after.tensorName(),
                    after.begin(),
                    before.tensorName(),
                    before.end()));
      }
    }
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
    return array.asList().stream().mapToLong(element -> wholeNumber(entry, key, element)).toArray();
  }

  private static long wholeNumber(JsonFile entry, String key, JsonElement element) {
    // The conversions of Gson would also accept "3" and [3].
    if (element instanceof JsonPrimitive primitive
        && primitive.isNumber()
        && primitive.getAsNumber() instanceof Long number
        && number >= 0) {
      return number;
    }
    throw new InvalidInputException(
        "%s: '%s' holds %s; expected whole numbers of at least 0"
            .formatted(entry.name(), key, Excerpt.of(element.toString())));
  }

  private static String text(String fileName, MemorySegment utf8) {
    try {
      ByteBuffer buffer = ByteBuffer.wrap(utf8.toArray(ValueLayout.JAVA_BYTE));
      return StandardCharsets.UTF_8.newDecoder().decode(buffer).toString();
    } catch (CharacterCodingException e) {
      throw new InvalidInputException(fileName + ": the header is not valid UTF-8", e);
    }
  }
}
