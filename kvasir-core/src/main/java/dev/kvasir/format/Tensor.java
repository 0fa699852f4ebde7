package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * A tensor as it lies in a file.
 *
 * @param name its name in the file
 * @param type how its values are stored
 * @param shape outermost dimension first, whatever order the file uses
 * @param data exactly {@code type.bytesFor(values())} bytes, row-major
 */
public record Tensor(String name, GgmlType type, long[] shape, MemorySegment data) {
  public long values() {
    return Arrays.stream(shape).reduce(1, Math::multiplyExact);
  }

  /** The shape as people write it: {@code 512 x 1536}. */
  public String shapeText() {
    return text(shape);
  }

  static String text(long[] shape) {
    if (shape.length == 0) {
      return "scalar";
    }
    return Arrays.stream(shape).mapToObj(Long::toString).collect(Collectors.joining(" x "));
  }

  /** The bytes that a tensor of that type and shape takes, refused where they overflow. */
  static long bytes(String where, GgmlType type, long[] shape) {
    long values = values(where, shape);
    try {
      return type.bytesFor(values);
    } catch (IllegalArgumentException e) {
      throw tooLarge(where, shape, e);
    }
  }

  /** The values that a tensor of that shape has, refused where they overflow. */
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

  /** One of the tensors that it is made of, along its outermost dimension. */
  public Tensor part(int index) {
    Objects.checkIndex(index, shape[0]);
    long[] inner = Arrays.copyOfRange(shape, 1, shape.length);
    long bytes = type.bytesFor(values() / shape[0]);
    return new Tensor(name, type, inner, data.asSlice(index * bytes, bytes));
  }

  /**
   * The rows from {@code from} to before {@code to}, where they lie, under the same name. Rows of a
   * vector are its numbers.
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

  /** All values as floats; for vectors and other small tensors. */
  public float[] toFloats() {
    float[] floats = new float[Math.toIntExact(values())];
    type.decode(data, 0, floats.length, floats, 0);
    return floats;
  }
}
