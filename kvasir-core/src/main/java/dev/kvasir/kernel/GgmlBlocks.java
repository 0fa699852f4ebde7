package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Block formats of GGUF files, 32 columns each, that kernels can repack into tiles in one call. A
 * fresh process repacks all weights before the JIT has compiled anything.
 *
 * <pre>
 * Q8_0:   half scale | 32 signed bytes, in the columns' order
 * Q4_0:   half scale | 16 bytes: columns 0..15 in the lower nibbles, 16..31 in the upper ones
 *         minimum = -8 * scale
 * </pre>
 */
public enum GgmlBlocks {
  Q8_0(WeightCodes.BYTES, 0),
  Q4_0(WeightCodes.NIBBLES, -8);

  /** Columns of a block. */
  private static final int COLUMNS = 32;

  private final WeightCodes coding;
  private final ScaleFormat format;

  GgmlBlocks(WeightCodes coding, int minimumFactor) {
    this.coding = coding;
    this.format = new ScaleFormat(ScaleFormat.ScaleEncoding.HALVES, false, minimumFactor);
  }

  /** Throws if the matrix does not have this format, or if there are too few blocks for it. */
  public void requireFit(MemorySegment blocks, QuantizedWeights matrix) {
    long blockBytes = Short.BYTES + COLUMNS * coding.bits() / Byte.SIZE;
    long needed = (long) matrix.rows() * matrix.groups() * blockBytes;
    if (matrix.coding() != coding
        || matrix.groupLength() != COLUMNS
        || !matrix.scaleFormat().equals(format)
        || blocks.byteSize() < needed) {
      throw new IllegalArgumentException(
          "%d bytes of blocks for codes of %s in groups of %d with %s; expected %d, %s, %d and %s"
              .formatted(
                  blocks.byteSize(),
                  matrix.coding(),
                  matrix.groupLength(),
                  matrix.scaleFormat(),
                  needed,
                  coding,
                  COLUMNS,
                  format));
    }
  }
}
