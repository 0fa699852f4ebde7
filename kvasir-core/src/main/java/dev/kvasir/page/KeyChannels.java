package dev.kvasir.page;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.function.Function;

/**
 * Values that are the first channels of their keys and take no bytes. Readers take them from the
 * keys.
 *
 * <pre>
 * bytes = 0
 * </pre>
 *
 * @param rows tokens
 * @param columns channels of a value
 */
public record KeyChannels(int rows, int columns) implements CodeMatrix {
  private static final int KIND = 8;

  /** The kind of this matrix in stored pages. */
  static final Map<Integer, Function<CodeMatrixHeader, CodeMatrix>> KINDS =
      Map.of(KIND, header -> new KeyChannels(header.rows(), header.columns()));

  @Override
  public CodeMatrixHeader header() {
    return new CodeMatrixHeader(KIND, bits(), rows, columns, 0);
  }

  @Override
  public int bits() {
    return 0;
  }

  @Override
  public int codeBytes() {
    return 0;
  }

  @Override
  public int bytes() {
    return 0;
  }

  /** Does nothing: the keys hold the values. */
  @Override
  public void quantize(CodeScratch scratch, float[] x, MemorySegment target, long offset) {}

  @Override
  public void dequantize(CodeScratch scratch, MemorySegment source, long offset, float[] x) {
    throw new UnsupportedOperationException("values in keys are expanded with the keys");
  }
}
