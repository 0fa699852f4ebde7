package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Blocks of 32 columns as files hold them, which kernels may lay down as tiles in one go: a fresh
 * process does this to all weights before anything is compiled.
 *
 * <pre>
 * bytes:     half scale | 32 signed bytes, in the columns' order
 * nibbles:   half scale | 16 bytes: columns 0..15 in the lower nibbles, 16..31 in the upper ones
 *            minimum = -8 * scale
 * </pre>
 */
public enum GgmlBlocks {
  Q8_0(8, 0),
  Q4_0(4, -8);

  /** Of a block. */
  private static final int COLUMNS = 32;

  private final int codeBits;
  private final ScaleFormat format;

  GgmlBlocks(int codeBits, int minimumFactor) {
    this.codeBits = codeBits;
    this.format = new ScaleFormat(ScaleFormat.ScaleEncoding.HALVES, false, minimumFactor);
  }

  /** Refuses a matrix that such blocks do not make, and blocks that are too few for it. */
  public void requireFit(MemorySegment blocks, QuantizedWeights matrix) {
    long blockBytes = Short.BYTES + COLUMNS * codeBits / Byte.SIZE;
    long needed = (long) matrix.rows() * matrix.groups() * blockBytes;
    if (matrix.codeBits() != codeBits
        || matrix.groupLength() != COLUMNS
        || !matrix.scaleFormat().equals(format)
        || blocks.byteSize() < needed) {
      throw new IllegalArgumentException(
          "%d bytes of blocks for codes of %d bits in groups of %d with %s; expected %d, %d, %d and %s"
              .formatted(
                  blocks.byteSize(),
                  matrix.codeBits(),
                  matrix.groupLength(),
                  matrix.scaleFormat(),
                  needed,
                  codeBits,
                  COLUMNS,
                  format));
    }
  }
}
