package dev.kvasir.format;

import java.lang.foreign.MemorySegment;

/**
 * Where a quantized type keeps its bits, told in the one form that all of them share:
 *
 * <pre>
 *   value[i] = scale[i / groupLength] * code[i] + minimum[i / groupLength]
 * </pre>
 *
 * so that one matrix kernel serves every type: it multiplies codes, then applies a scale (and a
 * minimum times the sum of the activations) once a group.
 *
 * <p>In float arithmetic the product is exact for finite scales, and the sum rounds at most once. A
 * scale is an f16 (11 significant bits) times an integer of at most 7, and a code has at most 5
 * beside a power of two (8 in Q8_0, whose scale is a bare f16): 11 + 7 + 5 = 23 of the 24 that a
 * float holds. A fused multiply-add therefore gives the same bits as a product and a sum.
 */
public sealed interface BlockLayout permits LegacyBlock, SuperBlock16, SuperBlock32, TableBlock {

  /** Values in a block: 32, or 256 in a super-block. */
  int blockLength();

  int blockBytes();

  /** Values that share a scale and a minimum: 16 or 32. */
  int groupLength();

  /**
   * Bits that hold a code as {@link #unpack} gives it: 4 for codes in 0..15, 8 for signed bytes.
   * This is the width of the unpacked code, so a type of 2 bits answers 4.
   */
  int codeBits();

  /** Whether any minimum can differ from zero; when false the minimums are neither read nor set. */
  boolean hasMinimums();

  default int groupsPerBlock() {
    return blockLength() / groupLength();
  }

  /**
   * Unpacks the block at {@code offset} of {@code source}: {@link #blockLength()} codes, one a byte
   * in the order of the values, and {@link #groupsPerBlock()} scales and minimums.
   *
   * @param minimums may be null where {@link #hasMinimums()} is false
   */
  void unpack(
      MemorySegment source,
      long offset,
      byte[] codes,
      int codesAt,
      float[] scales,
      int scalesAt,
      float[] minimums,
      int minimumsAt);
}
