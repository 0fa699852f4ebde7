package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.function.Function;

/**
 * Unquantized numbers as bfloat16, for the few channels of a page that quantization would damage.
 * Range matters more than precision there.
 *
 * <pre>
 * (rows, columns)  bf16
 * bytes = 2 * rows * columns
 * </pre>
 */
public record Bf16Codes(int rows, int columns) implements CodeMatrix {
  private static final int KIND = 3;

  /** The kind of this matrix in stored pages. */
  static final Map<Integer, Function<CodeMatrixHeader, CodeMatrix>> KINDS =
      Map.of(KIND, header -> new Bf16Codes(header.rows(), header.columns()));

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Override
  public CodeMatrixHeader header() {
    return new CodeMatrixHeader(KIND, bits(), rows, columns, 0);
  }

  @Override
  public int bits() {
    return Short.SIZE;
  }

  @Override
  public int codeBytes() {
    return Short.BYTES * rows * columns;
  }

  @Override
  public int bytes() {
    return codeBytes();
  }

  @Override
  public void quantize(CodeScratch scratch, float[] x, MemorySegment target, long offset) {
    for (int i = 0; i < rows * columns; i++) {
      target.set(SHORT, offset + 2L * i, HalfRounding.toBfloat16(x[i]));
    }
  }

  @Override
  public void dequantize(CodeScratch scratch, MemorySegment source, long offset, float[] x) {
    for (int i = 0; i < rows * columns; i++) {
      x[i] = Float.intBitsToFloat(source.get(SHORT, offset + 2L * i) << 16);
    }
  }
}
