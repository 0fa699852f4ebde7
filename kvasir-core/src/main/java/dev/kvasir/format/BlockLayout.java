package dev.kvasir.format;

import java.lang.foreign.MemorySegment;

/**
 * The bit layout of a quantized type. All types have the same form:
 *
 * <pre>
 *   value[i] = scale[i / groupLength] * code[i] + minimum[i / groupLength]
 * </pre>
 *
 * One matrix kernel therefore serves every type: it multiplies codes, then applies a scale (and a
 * minimum times the sum of the activations) once per group.
 *
 * <p>In float arithmetic the product is exact for finite scales, and the sum rounds at most once. A
 * fused multiply-add therefore gives the same bits as a product and a sum. Of the 24 significant
 * bits of a float, the f16 has 11. An integer scale has up to 7 (Q6_K, where -128 is a power of
 * two) and its code up to 5 (Q6_K's -32 likewise), or up to 5 and the code up to 7 (IQ4_XS).
 * Without an integer scale, the code has up to 7. The maximum is 11 + 7 + 5 = 23. Only Q8_K, whose
 * scale is a float, rounds its product, and it has no sum.
 */
public sealed interface BlockLayout
    permits GridBlock1, GridBlock2, GridBlock3, LegacyBlock, OneScaleBlock, SuperBlock, TableBlock {

  /** The type of the scales, and of minimums that are not multiples of the scale. */
  enum Scales {
    /** Any value that needs a float. */
    FLOATS,

    /** A half, in groups of 32. */
    HALVES,

    /** A half per 256 values times a signed byte per group; the layout is a {@link SuperBlock}. */
    PRODUCTS
  }

  /** The values that an unpacked code can take. */
  sealed interface Codes {
    /** Integers of a range. */
    record Range(int lowest, int highest) implements Codes {}

    /** Some of sixteen signed bytes. */
    record Levels(byte[] values) implements Codes {}

    /** Integers of some bits above zero. */
    static Codes ofBits(int bits) {
      return new Range(0, (1 << bits) - 1);
    }

    /** Integers of some bits around zero. */
    static Codes ofSignedBits(int bits) {
      return new Range(-(1 << bits - 1), (1 << bits - 1) - 1);
    }
  }

  /**
   * The sizes of a layout.
   *
   * @param blockLength values in a block: 32 to 128, or 256 in a super-block
   * @param groupLength values that share a scale and a minimum: 16 or 32
   * @param codes that {@link #unpack} returns
   * @param hasMinimums whether any minimum can differ from zero; if false, minimums are neither
   *     read nor set
   * @param minimumFactor the ratio of minimum to scale if it is constant, else zero
   */
  record Shape(
      int blockLength,
      int blockBytes,
      int groupLength,
      Codes codes,
      boolean hasMinimums,
      Scales scales,
      int minimumFactor) {
    /** A layout with float scales and arbitrary minimums. */
    Shape(int blockLength, int blockBytes, int groupLength, Codes codes, boolean hasMinimums) {
      this(blockLength, blockBytes, groupLength, codes, hasMinimums, Scales.FLOATS, 0);
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

  default Codes codes() {
    return shape().codes();
  }

  /** Returns whether codes are 0 to 15. */
  default boolean hasNibbles() {
    return codes() instanceof Codes.Range range && range.lowest() >= 0 && range.highest() < 16;
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
   * Unpacks the block at {@code at} of {@code source}: {@link #blockLength()} codes, one per byte
   * in the order of the values, and {@link #groupsPerBlock()} scales and minimums.
   *
   * @param minimums may be null if {@link #hasMinimums()} is false
   * @param block index of the block in the arrays
   */
  void unpack(
      MemorySegment source, long at, byte[] codes, float[] scales, float[] minimums, int block);

  /**
   * Unpacks consecutive blocks to the start of the arrays.
   *
   * @param blocks as many whole blocks as {@code codes} holds
   */
  default void unpackAll(byte[] blocks, byte[] codes, float[] scales, float[] minimums) {
    MemorySegment source = MemorySegment.ofArray(blocks);
    int count = codes.length / blockLength();
    for (int block = 0; block < count; block++) {
      unpack(source, (long) block * blockBytes(), codes, scales, minimums, block);
    }
  }
}
