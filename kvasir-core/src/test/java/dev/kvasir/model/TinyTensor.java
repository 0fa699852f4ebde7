package dev.kvasir.model;

import dev.kvasir.format.GgmlType;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;

/**
 * Random numbers as a file stores them, and the floats that they stand for.
 *
 * @param shape outermost dimension first
 */
record TinyTensor(GgmlType type, byte[] bytes, long[] shape) {
  /** A matrix whose products keep the size of what they multiply. */
  static TinyTensor matrix(GgmlType type, int rows, int columns, Random random) {
    double size = 1 / Math.sqrt(columns);
    ByteBuffer out =
        ByteBuffer.allocate((int) type.bytesFor((long) rows * columns))
            .order(ByteOrder.LITTLE_ENDIAN);
    if (type.isFloat()) {
      while (out.hasRemaining()) {
        put(out, type, (float) (size * random.nextGaussian()));
      }
    } else {
      random.nextBytes(out.array());
      for (int at = 0; at < out.capacity(); at += type.blockBytes()) {
        putScale(out, at, type, size);
      }
    }
    return new TinyTensor(type, out.array(), new long[] {rows, columns});
  }

  private static void put(ByteBuffer out, GgmlType type, float value) {
    switch (type) {
      case F32 -> out.putFloat(value);
      case F16 -> out.putShort(Float.floatToFloat16(value));
      case BF16 -> out.putShort((short) (Float.floatToRawIntBits(value) >>> 16));
      default -> throw new IllegalArgumentException(type + " is no float");
    }
  }

  /** Codes may be any bits; a scale makes values of the wanted size of them. */
  private static void putScale(ByteBuffer out, int at, GgmlType type, double size) {
    switch (type) {
      case Q8_0 -> out.putShort(at, Float.floatToFloat16((float) (size / 74)));
      case Q4_0 -> out.putShort(at, Float.floatToFloat16((float) (size / 4.6)));
      case Q6_K -> out.putShort(at + 208, Float.floatToFloat16((float) (size / (74 * 18.5))));
      default -> throw new IllegalArgumentException(type + " is not written here");
    }
  }

  /** Numbers around {@code middle}, in full precision. */
  static TinyTensor vector(int length, double middle, Random random) {
    ByteBuffer out = ByteBuffer.allocate(4 * length).order(ByteOrder.LITTLE_ENDIAN);
    while (out.hasRemaining()) {
      out.putFloat((float) (middle + 0.3 * random.nextGaussian()));
    }
    return new TinyTensor(GgmlType.F32, out.array(), new long[] {length});
  }

  /** The same with one number throughout a row of a matrix in full precision. */
  TinyTensor withRow(int row, float value) {
    byte[] changed = bytes.clone();
    ByteBuffer out = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
    int columns = (int) shape[1];
    for (int i = 0; i < columns; i++) {
      out.putFloat(4 * (row * columns + i), value);
    }
    return new TinyTensor(type, changed, shape);
  }

  static TinyTensor ofFloats(float... values) {
    ByteBuffer out = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      out.putFloat(value);
    }
    return new TinyTensor(GgmlType.F32, out.array(), new long[] {values.length});
  }

  /**
   * The rows of each head as conversion to GGUF orders them for families that rotate neighbours:
   * the two halves of a head, one row of each in turn.
   */
  TinyTensor withNeighbouringHalves(int heads) {
    int rows = (int) shape[0];
    int rowBytes = bytes.length / rows;
    int headDim = rows / heads;
    byte[] reordered = new byte[bytes.length];
    for (int row = 0; row < rows; row++) {
      int channel = row % headDim;
      int from = row - channel + channel / 2 + channel % 2 * (headDim / 2);
      System.arraycopy(bytes, from * rowBytes, reordered, row * rowBytes, rowBytes);
    }
    return new TinyTensor(type, reordered, shape);
  }

  TinyTensor withShape(long... other) {
    long values = 1;
    for (long size : other) {
      values *= size;
    }
    return new TinyTensor(type, new byte[(int) type.bytesFor(values)], other);
  }

  /** The same bytes as another shape of as many values. */
  TinyTensor as(long... other) {
    return new TinyTensor(type, bytes, other);
  }

  float[] floats() {
    long values = 1;
    for (long size : shape) {
      values *= size;
    }
    float[] floats = new float[(int) values];
    type.decode(MemorySegment.ofArray(bytes), 0, values, floats, 0);
    return floats;
  }
}
