package dev.kvasir.format;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/**
 * How a GGUF file stores the values of a tensor. A tensor is a sequence of blocks with nothing
 * between them:
 *
 * <pre>
 *   bytes(values) = values / blockLength * blockBytes
 * </pre>
 *
 * <p>The names are those of the format, and the wire numbers are part of files in the world:
 * neither can change. Numbers that are missing here belong to types that this library does not
 * read.
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
  IQ4_XS(23, TableBlock.IQ4_XS),
  IQ1_M(29, GridBlock1.IQ1_M),
  BF16(30, 2),
  TQ1_0(34, OneScaleBlock.TQ1_0),
  TQ2_0(35, OneScaleBlock.TQ2_0),
  MXFP4(39, TableBlock.MXFP4),
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

  /** The type that a file means by {@code number}; empty for one that this library cannot read. */
  public static Optional<GgmlType> ofWireNumber(int number) {
    return Arrays.stream(values()).filter(type -> type.wireNumber == number).findFirst();
  }

  public int wireNumber() {
    return wireNumber;
  }

  /** Values in a block; 1 for floats. */
  public int blockLength() {
    return blockLength;
  }

  public int blockBytes() {
    return blockBytes;
  }

  /** Whether each value is a floating point number of its own, without a block around it. */
  public boolean isFloat() {
    return layout == null;
  }

  /**
   * Where the bits of a quantized type lie.
   *
   * @throws IllegalStateException if this is a float type, which has none
   */
  public BlockLayout layout() {
    if (layout == null) {
      throw new IllegalStateException(this + " is a float type and has no block layout");
    }
    return layout;
  }

  /**
   * Bytes that hold {@code values} values.
   *
   * @throws IllegalArgumentException if they are negative, not whole blocks, or more bytes than a
   *     long can count
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
   * Decodes {@code values} values, which start {@code offset} bytes into {@code source}, into
   * {@code target} from index {@code at} on.
   *
   * @throws IllegalArgumentException if values are not whole blocks
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
      layout.unpack(source, offset, codes, 0, scales, 0, minimums, 0);
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
