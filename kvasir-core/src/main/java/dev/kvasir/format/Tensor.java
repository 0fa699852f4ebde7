package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * A tensor of a file.
 *
 * @param name its name in the file
 * @param type how its values are stored
 * @param shape outermost dimension first, regardless of the file's order
 * @param data exactly {@code type.bytesFor(values())} bytes, row-major
 */
public record Tensor(String name, GgmlType type, long[] shape, MemorySegment data) {
  public long values() {
    return Arrays.stream(shape).reduce(1, Math::multiplyExact);
  }

  /** Returns the shape as text: {@code 512 x 1536}. */
  public String shapeText() {
    return text(shape);
  }

  static String text(long[] shape) {
    if (shape.length == 0) {
      return "scalar";
    }
    return Arrays.stream(shape).mapToObj(Long::toString).collect(Collectors.joining(" x "));
  }

  /** Returns the bytes of a tensor; rejects an overflow. */
  static long bytes(String where, GgmlType type, long[] shape) {
    long values = values(where, shape);
    try {
      return type.bytesFor(values);
    } catch (IllegalArgumentException e) {
      throw tooLarge(where, shape, e);
    }
  }

  /** Returns the number of values of a tensor; rejects an overflow. */
  static long values(String where, long[] shape) {
    try {
      return Arrays.stream(shape).reduce(1, Math::multiplyExact);
    } catch (ArithmeticException e) {
      throw tooLarge(where, shape, e);
    }
  }

  private static InvalidInputException tooLarge(
      String where, long[] shape, RuntimeException cause) {
    return new InvalidInputException(
        "%s: shape %s is larger than any file".formatted(where, text(shape)), cause);
  }

  /** Returns a slice along the outermost dimension. */
  public Tensor part(int index) {
    Objects.checkIndex(index, shape[0]);
    long[] inner = Arrays.copyOfRange(shape, 1, shape.length);
    long bytes = type.bytesFor(values() / shape[0]);
    return new Tensor(name, type, inner, data.asSlice(index * bytes, bytes));
  }

  /**
   * Returns a view of rows {@code from} (inclusive) to {@code to} (exclusive), with the same name.
   * Rows of a vector are its values.
   */
  public Tensor rows(long from, long to) {
    if (shape.length == 0 || from < 0 || from > to || to > shape[0]) {
      throw new IllegalArgumentException(
          "rows %d to %d of tensor '%s', whose shape is %s".formatted(from, to, name, shapeText()));
    }
    long[] part = shape.clone();
    part[0] = to - from;
    long rowValues = Arrays.stream(shape).skip(1).reduce(1, Math::multiplyExact);
    long at = type.bytesFor(from * rowValues);
    return new Tensor(name, type, part, data.asSlice(at, type.bytesFor(to * rowValues) - at));
  }

  /** Returns all values as floats; for vectors and other small tensors. */
  public float[] toFloats() {
    float[] floats = new float[Math.toIntExact(values())];
    type.decode(data, 0, floats.length, floats, 0);
    return floats;
  }
}
