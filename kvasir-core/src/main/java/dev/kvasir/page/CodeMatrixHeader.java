package dev.kvasir.page;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a stored page says of a grid of codes. The number of a kind stands in the class of its
 * grids.
 *
 * <pre>
 * u8   kind
 * u8   bits
 * u16  entries
 * u16  lanes
 * u16  group, 0 where there is none
 * </pre>
 */
public record CodeMatrixHeader(int kind, int bits, int rows, int columns, int group) {
  public static final int BYTES = 8;

  /** Refuses to load where two classes claim a number. */
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
   * The grid that describes itself so.
   *
   * @throws IllegalArgumentException where there is none
   */
  public CodeMatrix matrix() {
    Function<CodeMatrixHeader, CodeMatrix> make = KINDS.get(kind);
    if (make == null) {
      throw new IllegalArgumentException(
          "a grid has kind %d; known are %s"
              .formatted(kind, KINDS.keySet().stream().sorted().toList()));
    }
    CodeMatrix matrix = make.apply(this);
    if (!matrix.header().equals(this)) {
      throw new IllegalArgumentException(
          "a grid of %s calls itself %s".formatted(matrix.header(), this));
    }
    return matrix;
  }

  @Override
  public String toString() {
    return "kind %d, %d bits, %d x %d, group %d".formatted(kind, bits, rows, columns, group);
  }
}
