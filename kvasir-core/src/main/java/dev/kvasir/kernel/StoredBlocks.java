package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Blocks of 32 columns as files hold them, which kernels lay down as tiles in one go: a fresh
 * process does this to all weights before anything is compiled.
 *
 * <pre>
 * bytes:     half scale | 32 signed bytes, in the columns' order
 * nibbles:   half scale | 16 bytes: columns 0..15 in the lower nibbles, 16..31 in the upper ones
 *            minimum = -8 * scale
 * </pre>
 */
public enum StoredBlocks {
  BYTES(8) {
    @Override
    void unpack(byte[] block, int at, byte[] codes, int codesAt) {
      System.arraycopy(block, at, codes, codesAt, COLUMNS);
    }
  },

  NIBBLES(4) {
    @Override
    void unpack(byte[] block, int at, byte[] codes, int codesAt) {
      for (int i = 0; i < COLUMNS / 2; i++) {
        codes[codesAt + i] = (byte) (block[at + i] & 15);
        codes[codesAt + COLUMNS / 2 + i] = (byte) (block[at + i] >> 4 & 15);
      }
    }
  };

  /** Of a block. */
  public static final int COLUMNS = 32;

  private final int codeBits;

  StoredBlocks(int codeBits) {
    this.codeBits = codeBits;
  }

  public int codeBits() {
    return codeBits;
  }

  /** Bytes of so many blocks. */
  public long bytes(long blocks) {
    return blocks * (Short.BYTES + COLUMNS * codeBits / Byte.SIZE);
  }

  abstract void unpack(byte[] block, int at, byte[] codes, int codesAt);

  /** Refuses a matrix that such blocks do not make, and blocks that are too few for it. */
  public void requireFit(MemorySegment blocks, CodedMatrix matrix) {
    long needed = bytes((long) matrix.rows() * matrix.groups());
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

  /** {@link CodedKernels#lay} in plain Java: the definition, for both layouts. */
  float lay(MemorySegment blocks, CodedMatrix matrix, int firstTile, int endTile) {
    requireFit(blocks, matrix);
    int largest = 0;
    for (int tile = firstTile; tile < endTile; tile++) {
      largest = Math.max(largest, layTile(blocks, matrix, tile));
    }
    return largest < 0x7C00 ? Float.float16ToFloat((short) largest) : Float.POSITIVE_INFINITY;
  }

  /** Answers the greatest magnitude of a scale, as bits of a half. */
  private int layTile(MemorySegment blocks, CodedMatrix matrix, int tile) {
    int firstRow = tile * CodedMatrix.TILE_ROWS;
    int rows = Math.min(CodedMatrix.TILE_ROWS, matrix.rows() - firstRow);
    int count = rows * matrix.groups();
    long first = bytes((long) firstRow * matrix.groups());
    byte[] stored = blocks.asSlice(first, bytes(count)).toArray(ValueLayout.JAVA_BYTE);
    byte[] codes = new byte[count * COLUMNS];
    float[] scales = new float[count];
    float[] minimums = new float[this == NIBBLES ? count : 0];
    int largest = 0;
    for (int block = 0; block < count; block++) {
      int at = (int) bytes(block);
      int half = stored[at] & 0xFF | (stored[at + 1] & 0xFF) << 8;
      largest = Math.max(largest, half & 0x7FFF);
      scales[block] = Float.float16ToFloat((short) half);
      if (this == NIBBLES) {
        minimums[block] = -8 * scales[block];
      }
      unpack(stored, at + Short.BYTES, codes, block * COLUMNS);
    }
    matrix.setTile(tile, rows, codes, scales, minimums);
    return largest;
  }
}
