package dev.kvasir.page;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The header by which a stored page describes a {@link CodeMatrix}. The class of a matrix defines
 * the number of its kind.
 *
 * <pre>
 * u8   kind
 * u8   bits
 * u16  rows
 * u16  columns
 * u16  group, 0 if there is none
 * </pre>
 */
public record CodeMatrixHeader(int kind, int bits, int rows, int columns, int group) {
  public static final int BYTES = 8;

  /** Fails to load if two classes use the same number. */
  private static final Map<Integer, Function<CodeMatrixHeader, CodeMatrix>> KINDS =
      Stream.of(
              RowScaledCodes.KINDS,
              ColumnScaledCodes.KINDS,
              Bf16Codes.KINDS,
              WideCodes.KINDS,
              LloydMaxCodes.KINDS,
              KeyChannels.KINDS)
          .flatMap(kinds -> kinds.entrySet().stream())
          .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

  public void write(ByteBuffer out) {
    out.put((byte) kind).put((byte) bits);
    out.putShort((short) rows).putShort((short) columns).putShort((short) group);
  }

  public static CodeMatrixHeader read(ByteBuffer in) {
    return new CodeMatrixHeader(
        Byte.toUnsignedInt(in.get()),
        Byte.toUnsignedInt(in.get()),
        Short.toUnsignedInt(in.getShort()),
        Short.toUnsignedInt(in.getShort()),
        Short.toUnsignedInt(in.getShort()));
  }

  /**
   * Returns the matrix with this header.
   *
   * @throws IllegalArgumentException if there is none
   */
  public CodeMatrix matrix() {
    Function<CodeMatrixHeader, CodeMatrix> make = KINDS.get(kind);
    if (make == null) {
      throw new IllegalArgumentException(
          "a matrix has kind %d; known are %s"
              .formatted(kind, KINDS.keySet().stream().sorted().toList()));
    }
    CodeMatrix matrix = make.apply(this);
    if (!matrix.header().equals(this)) {
      throw new IllegalArgumentException(
          "a matrix of %s calls itself %s".formatted(matrix.header(), this));
    }
    return matrix;
  }

  @Override
  public String toString() {
    return "kind %d, %d bits, %d x %d, group %d".formatted(kind, bits, rows, columns, group);
  }
}
