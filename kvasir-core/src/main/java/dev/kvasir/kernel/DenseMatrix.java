package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Floating-point weights in row-major order as stored in a file; usually mapped, never copied.
 *
 * @param data {@code rows * columns} little-endian values
 */
public record DenseMatrix(Precision precision, int rows, int columns, MemorySegment data)
    implements Matrix {

  /** The stored type of a value. */
  public enum Precision {
    F32(4),
    F16(2),
    BF16(2);

    private final int bytes;

    Precision(int bytes) {
      this.bytes = bytes;
    }

    public int bytes() {
      return bytes;
    }
  }

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  public DenseMatrix {
    long expected = (long) rows * columns * precision.bytes();
    if (data.byteSize() != expected) {
      throw new IllegalArgumentException(
          "data has %d bytes; %d x %d of %s take %d"
              .formatted(data.byteSize(), rows, columns, precision, expected));
    }
  }

  @Override
  public long bytes() {
    return data.byteSize();
  }

  public long offset(int row) {
    return (long) row * columns * precision.bytes();
  }

  public float value(int row, int column) {
    long at = offset(row) + (long) column * precision.bytes();
    return switch (precision) {
      case F32 -> data.get(FLOAT, at);
      case F16 -> Float.float16ToFloat(data.get(SHORT, at));
      case BF16 -> Float.intBitsToFloat(data.get(SHORT, at) << 16);
    };
  }
}
