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
 * <p>In float arithmetic the product is exact for finite scales and the sum rounds at most once, so
 * a fused multiply-add gives the same bits as a product and a sum. Significant bits, of the 24 that
 * a float holds: the f16 has 11; an integer scale has up to 7 (Q6_K, where -128 is a power of two)
 * and the code beside it up to 5 (Q6_K's -32 likewise), or up to 5 and the code up to 7 (IQ4_XS),
 * or the f16 stands alone and the code has up to 7. The most is 11 + 7 + 5 = 23. Only Q8_K, whose
 * scale is a float, rounds its product, and has no sum after it.
 */
public sealed interface BlockLayout
    permits GridBlock1, GridBlock2, GridBlock3, LegacyBlock, OneScaleBlock, SuperBlock, TableBlock {

  /** What a scale is made of, and likewise a minimum that is no multiple of the scale. */
  enum Scales {
    /** Something that takes a float. */
    FLOATS,

    /** A half, in groups of 32. */
    HALVES,

    /** A half of 256 values times a signed byte; the layout is a {@link SuperBlock}. */
    PRODUCTS
  }

  /**
   * The sizes of a layout.
   *
   * @param blockLength values in a block: 32 to 128, or 256 in a super-block
   * @param groupLength values that share a scale and a minimum: 16 or 32
   * @param codeBits bits that hold a code as {@link #dequantize} gives it: 4 for codes in 0..15, 8
   *     for signed bytes. This is the width of the unpacked code, so a type of 2 bits has 4
   * @param hasMinimums whether any minimum can differ from zero; when false the minimums are
   *     neither read nor set
   * @param minimumFactor of minimums that are the same multiple of their scales everywhere; zero
   *     where they are not
   */
  record Shape(
      int blockLength,
      int blockBytes,
      int groupLength,
      int codeBits,
      boolean hasMinimums,
      Scales scales,
      int minimumFactor) {
    /** Of scales and minimums of whatever value. */
    Shape(int blockLength, int blockBytes, int groupLength, int codeBits, boolean hasMinimums) {
      this(blockLength, blockBytes, groupLength, codeBits, hasMinimums, Scales.FLOATS, 0);
    }
  }

  Shape shape();

  default int blockLength() {
    return shape().blockLength();
  }

  default int blockBytes() {
    return shape().blockBytes();
  }

  default int groupLength() {
    return shape().groupLength();
  }

  default int codeBits() {
    return shape().codeBits();
  }

  default boolean hasMinimums() {
    return shape().hasMinimums();
  }

  default Scales scales() {
    return shape().scales();
  }

  default int minimumFactor() {
    return shape().minimumFactor();
  }

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

  /**
   * Unpacks blocks that lie one after another, from the first of all these arrays on.
   *
   * @param blocks whole blocks, as many as codes ask for
   */
  default void unpackAll(byte[] blocks, byte[] codes, float[] scales, float[] minimums) {
    MemorySegment source = MemorySegment.ofArray(blocks);
    int count = codes.length / blockLength();
    for (int block = 0; block < count; block++) {
      int group = block * groupsPerBlock();
      long at = (long) block * blockBytes();
      unpack(source, at, codes, block * blockLength(), scales, group, minimums, group);
    }
  }
}
