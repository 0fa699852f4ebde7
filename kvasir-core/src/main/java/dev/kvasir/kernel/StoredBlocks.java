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
public enum StoredBlocks {
  BYTES(8),
  NIBBLES(4);

  /** Of a block. */
  private static final int COLUMNS = 32;

  private final int codeBits;

  StoredBlocks(int codeBits) {
    this.codeBits = codeBits;
  }

  /** Refuses a matrix that such blocks do not make, and blocks that are too few for it. */
  public void requireFit(MemorySegment blocks, CodedMatrix matrix) {
    long blockBytes = Short.BYTES + COLUMNS * codeBits / Byte.SIZE;
    long needed = (long) matrix.rows() * matrix.groups() * blockBytes;
    if (matrix.codeBits() != codeBits
        || matrix.groupLength() != COLUMNS
        || matrix.hasMinimums() != (this == NIBBLES)
        || blocks.byteSize() < needed) {
      throw new IllegalArgumentException(
          "%d bytes of blocks for codes of %d bits in groups of %d; expected %d, %d and %d"
              .formatted(
                  blocks.byteSize(),
                  matrix.codeBits(),
                  matrix.groupLength(),
                  needed,
                  codeBits,
                  COLUMNS));
    }
  }
}
