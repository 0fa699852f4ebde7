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
 * The numbers under a name of a profile, on their way from and to arrays. They may be more than an
 * array holds: then they come and go in pieces.
 */
final class Numbers {
  /** Longer arrays are not granted by every Java runtime. */
  private static final int MOST_IN_ARRAY = Integer.MAX_VALUE - 8;

  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Tensor tensor;
  private final MemorySegment room;
  private long bytes;

  private Numbers(String key, GgmlType type, long... shape) {
    long values = Arrays.stream(shape).reduce(1, Math::multiplyExact);
    this.room = Arena.ofAuto().allocate(type.bytesFor(values), Float.BYTES);
    this.tensor = new Tensor(key, type, shape.clone(), room.asReadOnly());
  }

  /**
   * A tensor of all pieces, one after another.
   *
   * @param type 32-bit floats, or halves that numbers are rounded to
   */
  static Tensor joined(String key, GgmlType type, Stream<float[]> pieces, long... shape) {
    Numbers numbers = new Numbers(key, type, shape);
    for (Iterator<float[]> each = pieces.iterator(); each.hasNext(); ) {
      numbers.add(each.next());
    }
    numbers.requireRoom(numbers.bytes == numbers.room.byteSize());
    return numbers.tensor;
  }

  private void add(float[] piece) {
    long size = tensor.type().bytesFor(piece.length);
    requireRoom(size <= room.byteSize() - bytes);
    if (tensor.type() == GgmlType.F32) {
      MemorySegment.copy(piece, 0, room, FLOAT, bytes, piece.length);
    } else {
      for (int i = 0; i < piece.length; i++) {
        room.set(SHORT, bytes + (long) Short.BYTES * i, Float.floatToFloat16(piece[i]));
      }
    }
    bytes += size;
  }

  /** A tensor of all pieces, as they are. */
  static Tensor joinedWords(String key, Stream<short[]> pieces, long... shape) {
    Numbers numbers = new Numbers(key, GgmlType.F16, shape);
    for (Iterator<short[]> each = pieces.iterator(); each.hasNext(); ) {
      short[] piece = each.next();
      long size = (long) Short.BYTES * piece.length;
      numbers.requireRoom(size <= numbers.room.byteSize() - numbers.bytes);
      MemorySegment.copy(piece, 0, numbers.room, SHORT, numbers.bytes, piece.length);
      numbers.bytes += size;
    }
    numbers.requireRoom(numbers.bytes == numbers.room.byteSize());
    return numbers.tensor;
  }

  private void requireRoom(boolean fits) {
    if (!fits) {
      throw new IllegalArgumentException(
          "'%s' of shape %s has other than %d numbers"
              .formatted(tensor.name(), tensor.shapeText(), tensor.values()));
    }
  }

  /**
   * Some of a tensor's numbers, refused where they are too many for an array.
   *
   * @param source what messages begin with
   */
  static float[] some(String source, Tensor tensor, long first, long count) {
    requireSome(source, tensor, first, count);
    float[] floats = new float[(int) count];
    tensor.type().decode(tensor.data(), tensor.type().bytesFor(first), count, floats, 0);
    return floats;
  }

  /** The same for words of two bytes. */
  static short[] someWords(String source, Tensor tensor, long first, long count) {
    requireSome(source, tensor, first, count);
    short[] words = new short[(int) count];
    MemorySegment.copy(tensor.data(), SHORT, Short.BYTES * first, words, 0, words.length);
    return words;
  }

  private static void requireSome(String source, Tensor tensor, long first, long count) {
    if (count > MOST_IN_ARRAY) {
      throw new InvalidInputException(
          "%s: '%s' has %d numbers to be read at once; expected at most %d, which an array holds"
              .formatted(source, tensor.name(), count, MOST_IN_ARRAY));
    }
    Objects.checkFromIndexSize(first, count, tensor.values());
  }
}
