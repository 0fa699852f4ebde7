package dev.kvasir.cuda.formats.kivi;

import dev.kvasir.cuda.memory.PackedPage;

/**
 * The bits of the codes of keys and of values.
 *
 * @param keys 1, 2, 3, 4 or 8
 * @param values 1, 2, 3, 4 or 8
 */
public record CodeWidths(int keys, int values) {
  /** Returns whether keys and values have the same bits. */
  boolean areEqual() {
    return keys == values;
  }

  PackedPage page(int headDim) {
    return new PackedPage(keys, values, headDim);
  }

  /** Returns both as kernels take them: those of values from bit 8 on. */
  int packed() {
    return keys | values << 8;
  }

  @Override
  public String toString() {
    return areEqual() ? "kivi:%d".formatted(keys) : "kivi,k=%d,v=%d".formatted(keys, values);
  }
}
