package dev.kvasir.format;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The head of a GGUF file.
 *
 * <pre>
 * "GGUF" | u32 version | u64 tensors | u64 pairs
 * pairs:   string key | u32 type | value
 * tensors: string name | u32 dimensions | u64 sizes, innermost first | u32 type | u64 offset
 * padding to general.alignment (32 unless told)
 * data, each tensor at its offset from here
 * </pre>
 */
record GgufHeader(String fileName, GgufMetadata metadata, Map<String, Tensor> tensors) {
  /**
   * Four times what the largest vocabularies take. A sparse file of many gigabytes costs its author
   * nothing, and could otherwise ask for an array that fills the heap: a byte on disk becomes at
   * most about 10 in memory.
   */
  private static final long MOST_HEAD_BYTES = 64L << 20;

  private static final int MAGIC = 0x46554747; // "GGUF" read little-endian
  private static final int LEAST_PAIR_BYTES = 8 + 4 + 1;
  private static final int LEAST_TENSOR_BYTES = 8 + 4 + 8 + 4 + 8;
  private static final int MOST_DIMENSIONS = 4;
  private static final int MOST_ALIGNMENT = 1 << 20;

  /** Where a tensor says it lies, before the data's start is known. */
  private record Placement(String name, GgmlType type, long[] shape, long offset) {
    String shown() {
      return Excerpt.of(name);
    }
  }

  static GgufHeader read(String fileName, MemorySegment bytes) {
    ByteCursor cursor = new ByteCursor(fileName, bytes, MOST_HEAD_BYTES);
    checkMagicAndVersion(cursor);
    int tensorCount = cursor.count("the tensor count", LEAST_TENSOR_BYTES);
    int pairCount = cursor.count("the metadata count", LEAST_PAIR_BYTES);

    Map<String, Object> values = new LinkedHashMap<>();
    for (int i = 0; i < pairCount; i++) {
      String key = cursor.string("metadata key " + i);
      String shown = Excerpt.of(key);
      if (values.put(key, GgufValues.read(cursor, shown)) != null) {
        throw cursor.malformed("metadata key '%s' appears twice".formatted(shown));
      }
    }
    GgufMetadata metadata = new GgufMetadata(fileName, values);

    Map<String, Placement> placements = new LinkedHashMap<>();
    for (int i = 0; i < tensorCount; i++) {
      Placement placement = readPlacement(cursor, i);
      if (placements.put(placement.name(), placement) != null) {
        throw cursor.malformed("tensor '%s' appears twice".formatted(placement.shown()));
      }
    }
    int alignment = alignment(cursor, metadata);
    MemorySegment data = fromNextMultiple(bytes, cursor.position(), alignment);
    Map<String, Tensor> tensors = new LinkedHashMap<>();
    placements.forEach((name, at) -> tensors.put(name, place(cursor, at, data, alignment)));
    return new GgufHeader(fileName, metadata, tensors);
  }

  private static void checkMagicAndVersion(ByteCursor cursor) {
    int magic = cursor.int32("the magic number");
    if (magic != MAGIC) {
      throw cursor.malformed(
          "starts with 0x%08x; a GGUF file starts with 0x%08x ('GGUF')"
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
    if (alignment < 8 || alignment > MOST_ALIGNMENT || Integer.bitCount(alignment) != 1) {
      throw cursor.malformed(
          "'general.alignment' is %d; expected a power of two from 8 to %d"
              .formatted(alignment, MOST_ALIGNMENT));
    }
    return alignment;
  }

  private static Placement readPlacement(ByteCursor cursor, int index) {
    String name = cursor.string("the name of tensor " + index);
    String shown = Excerpt.of(name);
    int dimensions = cursor.int32("the dimension count of '" + shown + "'");
    if (dimensions < 1 || dimensions > MOST_DIMENSIONS) {
      throw cursor.malformed(
          "tensor '%s' has %s dimensions; expected 1 to %d"
              .formatted(shown, Integer.toUnsignedString(dimensions), MOST_DIMENSIONS));
    }
    long[] shape = new long[dimensions];
    for (int d = dimensions - 1; d >= 0; d--) {
      shape[d] = cursor.int64("a dimension of '" + shown + "'");
      if (shape[d] < 1) {
        throw cursor.malformed(
            "tensor '%s' has a dimension of %s; expected at least 1"
                .formatted(shown, Long.toUnsignedString(shape[d])));
      }
    }
    int wireNumber = cursor.int32("the type of '" + shown + "'");
    GgmlType type =
        GgmlType.ofWireNumber(wireNumber)
            .orElseThrow(
                () ->
                    cursor.malformed(
                        "tensor '%s' has type %s; supported are %s"
                            .formatted(
                                shown,
                                GgmlTypeNames.describe(wireNumber),
                                GgmlTypeNames.supported())));
    return new Placement(name, type, shape, cursor.int64("the offset of '" + shown + "'"));
  }

  private static Tensor place(ByteCursor cursor, Placement at, MemorySegment data, int alignment) {
    long rowLength = at.shape()[at.shape().length - 1];
    if (rowLength % at.type().blockLength() != 0) {
      throw cursor.malformed(
          "tensor '%s' has rows of %d values; %s needs a multiple of %d"
              .formatted(at.shown(), rowLength, at.type(), at.type().blockLength()));
    }
    if (at.offset() % alignment != 0) {
      throw cursor.malformed(
          "tensor '%s' lies at byte %s of the data; expected a multiple of %d"
              .formatted(at.shown(), Long.toUnsignedString(at.offset()), alignment));
    }
    long room = data.byteSize();
    long size = Tensor.bytes(cursor.at("tensor '%s'".formatted(at.shown())), at.type(), at.shape());
    if (at.offset() < 0 || size > room || at.offset() > room - size) {
      throw cursor.malformed(
          "tensor '%s' lies at byte %s of the data and takes %d bytes; the data has %d bytes"
              .formatted(at.shown(), Long.toUnsignedString(at.offset()), size, room));
    }
    return new Tensor(at.name(), at.type(), at.shape(), data.asSlice(at.offset(), size));
  }

  /** The data; empty in a file of metadata alone, which may end before the padding does. */
  private static MemorySegment fromNextMultiple(MemorySegment bytes, long position, int alignment) {
    long start = (position + alignment - 1) / alignment * alignment;
    return bytes.asSlice(Math.min(start, bytes.byteSize()));
  }
}
