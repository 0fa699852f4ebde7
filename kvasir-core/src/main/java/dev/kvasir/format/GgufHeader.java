package dev.kvasir.format;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The header of a GGUF file.
 *
 * <pre>
 * "GGUF" | u32 version | u64 tensors | u64 pairs
 * pairs:   string key | u32 type | value
 * tensors: string name | u32 dimensions | u64 sizes, innermost first | u32 type | u64 offset
 * padding to general.alignment (32 by default)
 * data, each tensor at its offset from here
 * </pre>
 */
record GgufHeader(String fileName, GgufMetadata metadata, Map<String, Tensor> tensors) {
  /**
   * Four times the size of the largest vocabularies. A sparse file of many gigabytes is easy to
   * make, and could otherwise fill the heap: a byte on disk becomes up to about 10 in memory.
   */
  private static final long MAX_HEADER_BYTES = 64L << 20;

  private static final int MAGIC = 0x46554747; // "GGUF" in little-endian
  private static final int MIN_PAIR_BYTES = 8 + 4 + 1;
  private static final int MIN_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8;
  private static final int MAX_DIMENSIONS = 4;
  private static final int MAX_ALIGNMENT = 1 << 20;

  /** A tensor's entry in the header, before the start of the data is known. */
  private record TensorInfo(String name, GgmlType type, long[] shape, long offset) {
    String shortName() {
      return Excerpt.of(name);
    }
  }

  static GgufHeader read(String fileName, MemorySegment bytes) {
    ByteCursor cursor = new ByteCursor(fileName, bytes, MAX_HEADER_BYTES);
    checkMagicAndVersion(cursor);
    int tensorCount = cursor.count("the tensor count", MIN_TENSOR_BYTES);
    int pairCount = cursor.count("the metadata count", MIN_PAIR_BYTES);

    Map<String, Object> values = new LinkedHashMap<>();
    for (int i = 0; i < pairCount; i++) {
      String key = cursor.string("metadata key " + i);
      String shortName = Excerpt.of(key);
      if (values.put(key, GgufValues.read(cursor, shortName)) != null) {
        throw cursor.malformed("metadata key '%s' appears twice".formatted(shortName));
      }
    }
    GgufMetadata metadata = new GgufMetadata(fileName, values);

    Map<String, TensorInfo> infos = new LinkedHashMap<>();
    for (int i = 0; i < tensorCount; i++) {
      TensorInfo info = readTensorInfo(cursor, i);
      if (infos.put(info.name(), info) != null) {
        throw cursor.malformed("tensor '%s' appears twice".formatted(info.shortName()));
      }
    }
    int alignment = alignment(cursor, metadata);
    MemorySegment data = fromNextMultiple(bytes, cursor.position(), alignment);
    Map<String, Tensor> tensors = new LinkedHashMap<>();
    infos.forEach((name, info) -> tensors.put(name, resolve(cursor, info, data, alignment)));
    return new GgufHeader(fileName, metadata, tensors);
  }

  private static void checkMagicAndVersion(ByteCursor cursor) {
    int magic = cursor.int32("the magic number");
    if (magic != MAGIC) {
      throw cursor.malformed(
          "is no GGUF file: it starts with 0x%08x instead of 0x%08x ('GGUF')"
              .formatted(Integer.reverseBytes(magic), Integer.reverseBytes(MAGIC)));
    }
    int version = cursor.int32("the version");
    if (version == 0x03000000 || version == 0x02000000) {
      throw cursor.malformed("is big-endian; only little-endian GGUF files are supported");
    }
    if (version != 2 && version != 3) {
      throw cursor.malformed(
          "has GGUF version %s; expected 2 or 3".formatted(Integer.toUnsignedString(version)));
    }
  }

  private static int alignment(ByteCursor cursor, GgufMetadata metadata) {
    int alignment = metadata.integer("general.alignment").orElse(32);
    if (alignment < 8 || alignment > MAX_ALIGNMENT || Integer.bitCount(alignment) != 1) {
      throw cursor.malformed(
          "'general.alignment' is %d; expected a power of two from 8 to %d"
              .formatted(alignment, MAX_ALIGNMENT));
    }
    return alignment;
  }

  private static TensorInfo readTensorInfo(ByteCursor cursor, int index) {
    String name = cursor.string("the name of tensor " + index);
    String shortName = Excerpt.of(name);
    int dimensions = cursor.int32("the dimension count of '" + shortName + "'");
    if (dimensions < 1 || dimensions > MAX_DIMENSIONS) {
      throw cursor.malformed(
          "tensor '%s' has %s dimensions; expected 1 to %d"
              .formatted(shortName, Integer.toUnsignedString(dimensions), MAX_DIMENSIONS));
    }
    long[] shape = new long[dimensions];
    for (int d = dimensions - 1; d >= 0; d--) {
      shape[d] = cursor.int64("a dimension of '" + shortName + "'");
      if (shape[d] < 1) {
        throw cursor.malformed(
            "tensor '%s' has a dimension of %s; expected at least 1"
                .formatted(shortName, Long.toUnsignedString(shape[d])));
      }
    }
    int wireNumber = cursor.int32("the type of '" + shortName + "'");
    GgmlType type =
        GgmlType.ofWireNumber(wireNumber)
            .orElseThrow(
                () ->
                    cursor.malformed(
                        "tensor '%s' has type %s; supported are %s"
                            .formatted(
                                shortName,
                                GgmlTypeNames.describe(wireNumber),
                                GgmlTypeNames.supported())));
    return new TensorInfo(name, type, shape, cursor.int64("the offset of '" + shortName + "'"));
  }

  private static Tensor resolve(
      ByteCursor cursor, TensorInfo info, MemorySegment data, int alignment) {
    long rowLength = info.shape()[info.shape().length - 1];
    if (rowLength % info.type().blockLength() != 0) {
      throw cursor.malformed(
          "tensor '%s' has rows of %d values; %s needs a multiple of %d"
              .formatted(info.shortName(), rowLength, info.type(), info.type().blockLength()));
    }
    if (info.offset() % alignment != 0) {
      throw cursor.malformed(
          "tensor '%s' lies at byte %s of the data; expected a multiple of %d"
              .formatted(info.shortName(), Long.toUnsignedString(info.offset()), alignment));
    }
    long dataBytes = data.byteSize();
    long size =
        Tensor.bytes(
            cursor.at("tensor '%s'".formatted(info.shortName())), info.type(), info.shape());
    if (info.offset() < 0 || size > dataBytes || info.offset() > dataBytes - size) {
      throw cursor.malformed(
          "tensor '%s' lies at byte %s of the data and takes %d bytes; the data has %d bytes"
              .formatted(info.shortName(), Long.toUnsignedString(info.offset()), size, dataBytes));
    }
    return new Tensor(info.name(), info.type(), info.shape(), data.asSlice(info.offset(), size));
  }

  /** Returns the data; empty in a metadata-only file, which may end before the padding. */
  private static MemorySegment fromNextMultiple(MemorySegment bytes, long position, int alignment) {
    long start = (position + alignment - 1) / alignment * alignment;
    return bytes.asSlice(Math.min(start, bytes.byteSize()));
  }

  /** Type names for messages, including types of GGUF that are not supported. */
  static final class GgmlTypeNames {
    private static final Map<Integer, String> NOT_READ =
        Map.ofEntries(
            Map.entry(4, "Q4_2"),
            Map.entry(5, "Q4_3"),
            Map.entry(9, "Q8_1"),
            Map.entry(24, "I8"),
            Map.entry(25, "I16"),
            Map.entry(26, "I32"),
            Map.entry(27, "I64"),
            Map.entry(28, "F64"),
            Map.entry(31, "Q4_0_4_4"),
            Map.entry(32, "Q4_0_4_8"),
            Map.entry(33, "Q4_0_8_8"),
            Map.entry(36, "IQ4_NL_4_4"),
            Map.entry(37, "IQ4_NL_4_8"),
            Map.entry(38, "IQ4_NL_8_8"));

    private GgmlTypeNames() {}

    static String describe(int wireNumber) {
      String name = NOT_READ.get(wireNumber);
      return name != null
          ? "%s (%d)".formatted(name, wireNumber)
          : "number %s, which is unknown".formatted(Integer.toUnsignedString(wireNumber));
    }

    static String supported() {
      return Arrays.stream(GgmlType.values()).map(Enum::name).collect(Collectors.joining(", "));
    }
  }
}
