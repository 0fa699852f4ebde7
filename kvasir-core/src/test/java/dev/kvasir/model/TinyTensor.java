package dev.kvasir.model;

import dev.kvasir.format.GgmlType;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;

/**
 * Random numbers as stored in a file, and their float values.
 *
 * @param shape outermost dimension first
 */
record TinyTensor(GgmlType type, byte[] bytes, long[] shape) {
  /** Returns a matrix whose products preserve magnitudes. */
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

  /**
   * Writes a scale that gives random codes the requested size. A minimum, if any, centers them at
   * zero.
   */
  private static void putScale(ByteBuffer out, int at, GgmlType type, double size) {
    switch (type) {
      case Q4_0 -> putHalf(out, at, size / 4.6);
      case Q5_0 -> putHalf(out, at, size / 9.3);
      case Q8_0 -> putHalf(out, at, size / 74);
      case Q4_1 -> putHalves(out, at, size / 4.6, -7.5);
      case Q5_1 -> putHalves(out, at, size / 9.2, -15.5);
      case Q2_K -> putHalves(out, at + 80, size / 14, 1.5);
      case Q3_K -> putHalf(out, at + 108, size / 43);
      case Q4_K -> putHalves(out, at, size / 260, 7.5);
      case Q5_K -> putHalves(out, at, size / 530, 15.5);
      case Q6_K -> putHalf(out, at + 208, size / (74 * 18.5));
      case Q8_K -> out.putFloat(at, (float) (size / 74));
      case IQ2_XXS, IQ2_XS, IQ2_S -> putHalf(out, at, size / 56);
      case IQ3_XXS, IQ3_S -> putHalf(out, at, size / 140);
      case IQ1_S -> putHalf(out, at, size / 7.2);
      case IQ1_M -> scatterHalf(out, at + 48, size / 7.2);
      case IQ4_NL -> putHalf(out, at, size / 67);
      case IQ4_XS -> putHalf(out, at, size / (67 * 18.5));
      case TQ1_0 -> putHalf(out, at + 52, size / 0.8);
      case TQ2_0 -> putHalf(out, at + 64, size / 1.2);
      case MXFP4 -> out.put(at, (byte) (127 + Math.getExponent(size / 2.9)));
      case NVFP4 -> putSmallFloats(out, at, size / 2.9);
      case Q1_0, Q2_0 -> putHalf(out, at, size);
      case F32, F16, BF16 -> throw new IllegalArgumentException(type + " has no scales");
    }
  }

  /** Writes the power of two below a value as four floats with an exponent of bias 7. */
  private static void putSmallFloats(ByteBuffer out, int at, double value) {
    for (int i = 0; i < 4; i++) {
      out.put(at + i, (byte) (7 + Math.getExponent(value) << 3));
    }
  }

  private static void putHalf(ByteBuffer out, int at, double value) {
    out.putShort(at, Float.floatToFloat16((float) value));
  }

  private static void putHalves(ByteBuffer out, int at, double scale, double minimumInScales) {
    putHalf(out, at, scale);
    putHalf(out, at + 2, scale * minimumInScales);
  }

  /** Writes a half to the upper nibbles of four shorts. */
  private static void scatterHalf(ByteBuffer out, int at, double value) {
    int bits = Float.floatToFloat16((float) value);
    for (int i = 0; i < 4; i++) {
      int kept = out.getShort(at + 2 * i) & 0xFFF;
      out.putShort(at + 2 * i, (short) (kept | (bits >>> 4 * i & 15) << 12));
    }
  }

  /** Returns numbers around {@code middle}, in full precision. */
  static TinyTensor vector(int length, double middle, Random random) {
    ByteBuffer out = ByteBuffer.allocate(4 * length).order(ByteOrder.LITTLE_ENDIAN);
    while (out.hasRemaining()) {
      out.putFloat((float) (middle + 0.3 * random.nextGaussian()));
    }
    return new TinyTensor(GgmlType.F32, out.array(), new long[] {length});
  }

  /** Returns a copy with one number throughout a row of a full-precision matrix. */
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
   * Returns the rows of each head in the order of GGUF conversion for interleaved RoPE: the two
   * halves of a head, one row of each in turn.
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

  /** Stacks matrices, as GGUF stores experts. */
  static TinyTensor stacked(List<TinyTensor> parts) {
    TinyTensor first = parts.getFirst();
    ByteBuffer out = ByteBuffer.allocate(parts.size() * first.bytes.length);
    parts.forEach(part -> out.put(part.bytes));
    long[] shape = {parts.size(), first.shape[0], first.shape[1]};
    return new TinyTensor(first.type, out.array(), shape);
  }

  TinyTensor withShape(long... other) {
    long values = 1;
    for (long size : other) {
      values *= size;
    }
    return new TinyTensor(type, new byte[(int) type.bytesFor(values)], other);
  }

  /** Returns the same bytes with another shape of as many values. */
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
