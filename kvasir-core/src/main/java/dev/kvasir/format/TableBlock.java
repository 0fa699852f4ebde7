package dev.kvasir.format;

import static dev.kvasir.format.BlockReader.half;
import static dev.kvasir.format.BlockReader.unsignedByte;

import java.lang.foreign.MemorySegment;

/** Blocks whose stored nibble is an index into a fixed table of signed bytes. */
enum TableBlock implements BlockLayout {
  /**
   * {@code value = d * LEVELS[nibble]}. The levels lie closer together near zero, where normally
   * distributed weights are; because they are integers, a level serves as the code of the group.
   *
   * <pre>
   *   byte 0    2                  18
   *        | d  | qs: 16           |       qs[j]  bits 3..0 = index of value j
   *                                               bits 7..4 = index of value j + 16
   *   bytes = 2 + 32 * 4 / 8 = 18
   * </pre>
   */
  IQ4_NL;

  private static final int LENGTH = 32;

  private static final byte[] LEVELS = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
  };

  @Override
  public int blockLength() {
    return LENGTH;
  }

  @Override
  public int blockBytes() {
    return 2 + LENGTH / 2;
  }

  @Override
  public int groupLength() {
    return LENGTH;
  }

  @Override
  public int codeBits() {
    return 8;
  }

  @Override
  public boolean hasMinimums() {
    return false;
  }

  @Override
  public void unpack(
      MemorySegment source,
      long offset,
      byte[] codes,
      int codesAt,
      float[] scales,
      int scalesAt,
      float[] minimums,
      int minimumsAt) {
    scales[scalesAt] = half(source, offset);
    for (int j = 0; j < LENGTH / 2; j++) {
      int pair = unsignedByte(source, offset + 2 + j);
      codes[codesAt + j] = LEVELS[pair & 15];
      codes[codesAt + j + 16] = LEVELS[pair >>> 4];
    }
  }
}
