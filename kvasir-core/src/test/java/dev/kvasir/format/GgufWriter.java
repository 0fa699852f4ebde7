package dev.kvasir.format;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes small GGUF files. {@link #put} and {@link #tensor} write valid ones; {@link #entry} and
 * {@link #data} write anything.
 */
public final class GgufWriter {
  static final int VERSION_AT = 4;
  static final int TENSOR_COUNT_AT = 8;
  static final int PAIR_COUNT_AT = 16;
  static final int FIRST_PAIR_AT = 24;

  private final LittleEndianBytes pairs = new LittleEndianBytes();
  private final LittleEndianBytes entries = new LittleEndianBytes();
  private final LittleEndianBytes data = new LittleEndianBytes();
  private int version = 3;
  private int alignment = 32;
  private long pairCount;
  private long entryCount;

  GgufWriter version(int version) {
    this.version = version;
    return this;
  }

  /** Sets the alignment and writes it to the metadata; call it before adding tensors. */
  GgufWriter alignment(int alignment) {
    this.alignment = alignment;
    return put("general.alignment", GgufValue.uint32(alignment));
  }

  public GgufWriter put(String key, GgufValue value) {
    pairs.string(key).int32(value.type()).raw(value.bytes());
    pairCount++;
    return this;
  }

  public GgufWriter put(String key, String value) {
    return put(key, GgufValue.string(value));
  }

  public GgufWriter put(String key, int value) {
    return put(key, GgufValue.uint32(value));
  }

  public GgufWriter put(String key, float value) {
    return put(key, GgufValue.float32(value));
  }

  public GgufWriter put(String key, boolean value) {
    return put(key, GgufValue.bool(value));
  }

  /** Writes the metadata of one part of a split model, with the types of real files. */
  public GgufWriter part(int index, int count, int tensorsInAll) {
    return put("split.no", GgufValue.uint16(index))
        .put("split.count", GgufValue.uint16(count))
        .put("split.tensors.count", GgufValue.int32(tensorsInAll));
  }

  /** Returns the name of a part: {@code tiny-00002-of-00003.gguf} for index 1. */
  public static String partName(int index, int count) {
    return "tiny-%05d-of-%05d.gguf".formatted(index + 1, count);
  }

  /** Adds a tensor with a shape in the order of {@link Tensor#shape()}: outermost first. */
  public GgufWriter tensor(String name, GgmlType type, byte[] bytes, long... shape) {
    return tensor(name, type.wireNumber(), bytes, shape);
  }

  /** Adds a tensor with a wire number as its type. */
  public GgufWriter tensor(String name, int type, byte[] bytes, long... shape) {
    long[] sizes = new long[shape.length];
    for (int i = 0; i < shape.length; i++) {
      sizes[i] = shape[shape.length - 1 - i];
    }
    data.padTo(alignment);
    return entry(name, type, data.size(), sizes).data(bytes);
  }

  /** Adds an F32 tensor. */
  public GgufWriter floats(String name, float[] values, long... shape) {
    return tensor(name, GgmlType.F32, LittleEndianBytes.ofFloats(values), shape);
  }

  /** Adds a header entry, with sizes in the order of the file: innermost first. */
  GgufWriter entry(String name, int type, long offset, long... sizes) {
    entries.string(name).int32(sizes.length);
    for (long size : sizes) {
      entries.int64(size);
    }
    entries.int32(type).int64(offset);
    entryCount++;
    return this;
  }

  GgufWriter data(byte... bytes) {
    data.raw(bytes);
    return this;
  }

  /** Returns the file; nothing follows the last tensor, so every missing byte is detected. */
  public byte[] bytes() {
    LittleEndianBytes file = new LittleEndianBytes();
    file.raw((byte) 'G', (byte) 'G', (byte) 'U', (byte) 'F').int32(version);
    file.int64(entryCount).int64(pairCount);
    file.raw(pairs.toArray()).raw(entries.toArray());
    return file.padTo(alignment).raw(data.toArray()).toArray();
  }

  public Path writeTo(Path file) {
    try {
      return Files.write(file, bytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
