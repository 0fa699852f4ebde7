package dev.kvasir.format;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/**
 * The storage types of GGUF tensors. A tensor is a sequence of contiguous blocks:
 *
 * <pre>
 *   bytes(values) = values / blockLength * blockBytes
 * </pre>
 *
 * <p>Names and wire numbers are those of the format. Missing numbers belong to types that are not
 * supported.
 */
public enum GgmlType {
  F32(0, 4),
  F16(1, 2),
  Q4_0(2, LegacyBlock.Q4_0),
  Q4_1(3, LegacyBlock.Q4_1),
  Q5_0(6, LegacyBlock.Q5_0),
  Q5_1(7, LegacyBlock.Q5_1),
  Q8_0(8, LegacyBlock.Q8_0),
  Q2_K(10, SuperBlock16.Q2_K),
  Q3_K(11, SuperBlock16.Q3_K),
  Q4_K(12, SuperBlock32.Q4_K),
  Q5_K(13, SuperBlock32.Q5_K),
  Q6_K(14, SuperBlock16.Q6_K),
  Q8_K(15, OneScaleBlock.Q8_K),
  IQ2_XXS(16, GridBlock2.IQ2_XXS),
  IQ2_XS(17, GridBlock2.IQ2_XS),
  IQ3_XXS(18, GridBlock3.IQ3_XXS),
  IQ1_S(19, GridBlock1.IQ1_S),
  IQ4_NL(20, TableBlock.IQ4_NL),
  IQ3_S(21, GridBlock3.IQ3_S),
  IQ2_S(22, GridBlock2.IQ2_S),
  IQ4_XS(23, TableSuperBlock.IQ4_XS),
  IQ1_M(29, GridBlock1.IQ1_M),
  BF16(30, 2),
  TQ1_0(34, OneScaleBlock.TQ1_0),
  TQ2_0(35, OneScaleBlock.TQ2_0),
  MXFP4(39, TableBlock.MXFP4),
  NVFP4(40, TableBlock.NVFP4),
  Q1_0(41, OneScaleBlock.Q1_0),
  Q2_0(42, OneScaleBlock.Q2_0);

  private final int wireNumber;
  private final int blockLength;
  private final int blockBytes;
  private final BlockLayout layout; // null for floats

  GgmlType(int wireNumber, int floatBytes) {
    this.wireNumber = wireNumber;
    this.blockLength = 1;
    this.blockBytes = floatBytes;
    this.layout = null;
  }

  GgmlType(int wireNumber, BlockLayout layout) {
    this.wireNumber = wireNumber;
    this.blockLength = layout.blockLength();
    this.blockBytes = layout.blockBytes();
    this.layout = layout;
  }

  /** Returns the type with a wire number; empty if it is not supported. */
  public static Optional<GgmlType> ofWireNumber(int number) {
    return Arrays.stream(values()).filter(type -> type.wireNumber == number).findFirst();
  }

  public int wireNumber() {
    return wireNumber;
  }

  /** Returns the values in a block; 1 for floats. */
  public int blockLength() {
    return blockLength;
  }

  public int blockBytes() {
    return blockBytes;
  }

  /** Returns whether values are stored as floating-point numbers, without blocks. */
  public boolean isFloat() {
    return layout == null;
  }

  /**
   * Returns the bit layout of a quantized type.
   *
   * @throws IllegalStateException if this is a float type
   */
  public BlockLayout layout() {
    if (layout == null) {
      throw new IllegalStateException(this + " is a float type and has no block layout");
    }
    return layout;
  }

  /**
   * Returns the bytes of {@code values} values.
   *
   * @throws IllegalArgumentException if the number is negative, not a multiple of the block length,
   *     or too large for a long
   */
  public long bytesFor(long values) {
    if (values < 0 || values % blockLength != 0) {
      throw new IllegalArgumentException(
          "values is %d, must be a non-negative multiple of %d for %s"
              .formatted(values, blockLength, this));
    }
    long blocks = values / blockLength;
    if (blocks > Long.MAX_VALUE / blockBytes) {
      throw new IllegalArgumentException(
          "values is %d, must be at most %d for %s"
              .formatted(values, Long.MAX_VALUE / blockBytes * blockLength, this));
    }
    return blocks * blockBytes;
  }

  /**
   * Decodes {@code values} values at byte {@code offset} of {@code source} to {@code target} from
   * index {@code at} on.
   *
   * @throws IllegalArgumentException if the values are not whole blocks
   * @throws IndexOutOfBoundsException if source or target is too short; nothing is written then
   */
  public void decode(MemorySegment source, long offset, long values, float[] target, int at) {
    Objects.checkFromIndexSize(offset, bytesFor(values), source.byteSize());
    Objects.checkFromIndexSize(at, values, target.length);
    int count = (int) values; // no more than target.length
    switch (this) {
      case F32 -> MemorySegment.copy(source, BlockReader.FLOAT, offset, target, at, count);
      case F16 -> {
        for (int i = 0; i < count; i++) {
          target[at + i] = BlockReader.half(source, offset + 2L * i);
        }
      }
      case BF16 -> { // the upper half of a float
        for (int i = 0; i < count; i++) {
          int bits = source.get(BlockReader.SHORT, offset + 2L * i) << 16;
          target[at + i] = Float.intBitsToFloat(bits);
        }
      }
      default -> decodeBlocks(source, offset, count, target, at);
    }
  }

  private void decodeBlocks(MemorySegment source, long offset, int count, float[] target, int at) {
    int groupLength = layout.groupLength();
    int groups = layout.groupsPerBlock();
    byte[] codes = new byte[blockLength];
    float[] scales = new float[groups];
    float[] minimums = new float[groups]; // stays zero without minimums
    int end = at + count;
    for (int t = at; t < end; offset += blockBytes) {
      layout.unpack(source, offset, codes, scales, minimums, 0);
      for (int group = 0, c = 0; group < groups; group++) {
        float scale = scales[group];
        float minimum = minimums[group];
        for (int i = 0; i < groupLength; i++) {
          target[t++] = scale * codes[c++] + minimum;
        }
      }
    }
  }
}
