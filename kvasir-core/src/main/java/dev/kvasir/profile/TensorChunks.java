package dev.kvasir.profile;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Converts a profile's tensors from and to arrays. A tensor may exceed the maximum array length,
 * and is then processed in chunks.
 */
final class TensorChunks {
  /** Some Java runtimes do not support longer arrays. */
  private static final int MAX_ARRAY_LENGTH = Integer.MAX_VALUE - 8;

  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Tensor tensor;
  private final MemorySegment buffer;
  private long written;

  private TensorChunks(String key, GgmlType type, long... shape) {
    long values = Arrays.stream(shape).reduce(1, Math::multiplyExact);
    this.buffer = Arena.ofAuto().allocate(type.bytesFor(values), Float.BYTES);
    this.tensor = new Tensor(key, type, shape.clone(), buffer.asReadOnly());
  }

  /**
   * Returns a tensor of all chunks, one after another.
   *
   * @param type 32-bit floats, or halves that numbers are rounded to
   */
  static Tensor joined(String key, GgmlType type, Stream<float[]> chunks, long... shape) {
    TensorChunks builder = new TensorChunks(key, type, shape);
    for (Iterator<float[]> each = chunks.iterator(); each.hasNext(); ) {
      builder.add(each.next());
    }
    builder.requireFit(builder.written == builder.buffer.byteSize());
    return builder.tensor;
  }

  private void add(float[] chunk) {
    long size = tensor.type().bytesFor(chunk.length);
    requireFit(size <= buffer.byteSize() - written);
    if (tensor.type() == GgmlType.F32) {
      MemorySegment.copy(chunk, 0, buffer, FLOAT, written, chunk.length);
    } else {
      for (int i = 0; i < chunk.length; i++) {
        buffer.set(SHORT, written + (long) Short.BYTES * i, Float.floatToFloat16(chunk[i]));
      }
    }
    written += size;
  }

  /** Returns a tensor of all chunks of 16-bit codes, unconverted. */
  static Tensor joinedWords(String key, Stream<short[]> chunks, long... shape) {
    TensorChunks builder = new TensorChunks(key, GgmlType.F16, shape);
    for (Iterator<short[]> each = chunks.iterator(); each.hasNext(); ) {
      short[] chunk = each.next();
      long size = (long) Short.BYTES * chunk.length;
      builder.requireFit(size <= builder.buffer.byteSize() - builder.written);
      MemorySegment.copy(chunk, 0, builder.buffer, SHORT, builder.written, chunk.length);
      builder.written += size;
    }
    builder.requireFit(builder.written == builder.buffer.byteSize());
    return builder.tensor;
  }

  private void requireFit(boolean fits) {
    if (!fits) {
      throw new IllegalArgumentException(
          "'%s' of shape %s has other than %d numbers"
              .formatted(tensor.name(), tensor.shapeText(), tensor.values()));
    }
  }

  /**
   * Returns some of a tensor's numbers; rejects more than an array holds.
   *
   * @param source prefix of messages
   */
  static float[] slice(String source, Tensor tensor, long first, long count) {
    requireRange(source, tensor, first, count);
    float[] floats = new float[(int) count];
    tensor.type().decode(tensor.data(), tensor.type().bytesFor(first), count, floats, 0);
    return floats;
  }

  /** Does the same for 16-bit codes. */
  static short[] sliceWords(String source, Tensor tensor, long first, long count) {
    requireRange(source, tensor, first, count);
    short[] words = new short[(int) count];
    MemorySegment.copy(tensor.data(), SHORT, Short.BYTES * first, words, 0, words.length);
    return words;
  }

  private static void requireRange(String source, Tensor tensor, long first, long count) {
    if (count > MAX_ARRAY_LENGTH) {
      throw new InvalidInputException(
          "%s: '%s' has %d numbers to be read at once; expected at most %d, which an array holds"
              .formatted(source, tensor.name(), count, MAX_ARRAY_LENGTH));
    }
    Objects.checkFromIndexSize(first, count, tensor.values());
  }
}
