package dev.kvasir.cuda.kernels;

import dev.kvasir.format.BlockLayout;
import dev.kvasir.format.GgmlType;
import java.util.Locale;
import java.util.Optional;

/**
 * The format of weights on a device, in chunks of 16 rows by 32 columns, as in weights.cuh. A lane
 * of a warp holds columns 4q to 4q + 3 and the same plus 16, of rows r and r + 8:
 *
 * <pre>
 * lane = 4 * (row % 8) + column % 16 / 4; word = row % 16 / 8 + 2 * (column % 32 / 16)
 *
 * codes of 8 bits  (32 lanes, 4 words, 4 columns)
 * codes of 4 bits  (32 lanes, 2, 4 columns), words 0 and 1 in the nibbles of one, 2 and 3 of the other
 * codes of 5 bits  the same, and (16 pairs of lanes, 4 columns) bytes of fifth bits:
 *                  bit 7    4 3    0
 *                     | odd  | even |   lane's words 3, 2, 1, 0
 * codes of 6 bits  upper four bits the same, and (32 lanes, 4 columns) bytes of lower ones, words 3, 2, 1, 0
 * halves           (2 halves of the columns, 32 lanes, 4 words, 2 columns), lanes as of keys
 * scales           (16 rows), or for 16 columns (2, 16 rows); minimums like them
 * </pre>
 *
 * <p>Scales of super-blocks are laid out by {@link KQuantScales}. Formats stored as in the file
 * take the same number of bytes.
 *
 * <p>Devices of compute capability 9.0 keep common types in larger blocks instead, whose codes and
 * scales are together ({@link WeightBlocks}).
 */
public enum WeightFormat {
  /** Q8_0 as stored: a half for 32 codes. */
  BYTES(512, 32, 0),
  /** Q4_0 as stored: a half for 32 codes of 4 bits, which are signed here. */
  NIBBLES(256, 32, 0),
  /** Q4_K as stored, with the scales of eight chunks together. */
  SUPER4(256, KQuantScales.PAIR_BYTES / 8, 0),
  /** Q5_K as stored. */
  SUPER5(256 + 64, KQuantScales.PAIR_BYTES / 8, 0),
  /** Q6_K as stored. */
  SUPER6(256 + 128, KQuantScales.SIGNED_BYTES / 8, 0),
  /** Codes of 8 bits with a float scale and minimum for 32: Q5_0, Q5_1 and similar types. */
  GROUPS8(512, 64, 64),
  /** Codes of 4 bits with a float scale and minimum for 32: Q4_1 and similar types. */
  GROUPS4(256, 64, 64),
  /** Codes of 8 bits with a float scale for 16. */
  SIXTEENS(512, 128, 0),
  /** F16, and BF16 and F32 converted to F16 if they are in range. */
  HALVES(1024, 0, 0),
  /** Q8_0 as stored, in blocks. */
  BYTE_BLOCKS(544, 0, 0),
  /** Q4_0 as stored, in blocks. */
  SIGNED_NIBBLE_BLOCKS(288, 0, 0),
  /** Q4_K as stored, in blocks. */
  NIBBLE_BLOCKS(288, 0, 0),
  /** Q5_K as stored, in blocks. */
  FIVE_BIT_BLOCKS(352, 0, 0),
  /** Q6_K as stored, in blocks. */
  SIX_BIT_BLOCKS(420, 0, 0),
  /** The same in blocks. */
  HALF_BLOCKS(1024, 0, 0);

  static final int TILE_ROWS = 16;
  static final int COLUMNS = 32;

  private static final int NIBBLE_BYTES = 256;

  private final int codeBytes;
  private final int scaleBytes;
  private final int minimumBytes;

  WeightFormat(int codeBytes, int scaleBytes, int minimumBytes) {
    this.codeBytes = codeBytes;
    this.scaleBytes = scaleBytes;
    this.minimumBytes = minimumBytes;
  }

  /**
   * Returns the format of a matrix; empty if there are no kernels for it.
   *
   * @param blocks whether the device has kernels for weights in blocks
   */
  static Optional<WeightFormat> of(GgmlType type, long columns, boolean blocks) {
    boolean fits = blocks && columns % WeightBlocks.COLUMNS == 0;
    return (fits ? blocked(type) : Optional.<WeightFormat>empty()).or(() -> of(type));
  }

  /** Returns the format of a type in blocks; empty if there are no kernels for it. */
  static Optional<WeightFormat> blocked(GgmlType type) {
    return switch (type) {
      case Q8_0 -> Optional.of(BYTE_BLOCKS);
      case Q4_0 -> Optional.of(SIGNED_NIBBLE_BLOCKS);
      case Q4_K -> Optional.of(NIBBLE_BLOCKS);
      case Q5_K -> Optional.of(FIVE_BIT_BLOCKS);
      case Q6_K -> Optional.of(SIX_BIT_BLOCKS);
      case F16, BF16, F32 -> Optional.of(HALF_BLOCKS);
      default -> Optional.empty();
    };
  }

  /** Returns the format of a type in chunks; empty if there are no kernels for it. */
  public static Optional<WeightFormat> of(GgmlType type) {
    return switch (type) {
      case Q8_0 -> Optional.of(BYTES);
      case Q4_0 -> Optional.of(NIBBLES);
      case Q4_K -> Optional.of(SUPER4);
      case Q5_K -> Optional.of(SUPER5);
      case Q6_K -> Optional.of(SUPER6);
      case F16, BF16, F32 -> Optional.of(HALVES);
      case NVFP4 -> Optional.empty(); // it has a further scale for each matrix
      default -> of(type.layout());
    };
  }

  private static Optional<WeightFormat> of(BlockLayout layout) {
    if (layout.groupLength() == COLUMNS) {
      return Optional.of(layout.hasNibbles() ? GROUPS4 : GROUPS8);
    }
    return layout.hasMinimums() ? Optional.empty() : Optional.of(SIXTEENS);
  }

  /** Returns whether weights are in blocks, with codes and scales together. */
  boolean isBlocked() {
    return compareTo(BYTE_BLOCKS) >= 0;
  }

  /** Returns the bytes of a block's codes; its scales follow. */
  int blockCodeBytes() {
    return switch (this) {
      case BYTE_BLOCKS -> 4096;
      case FIVE_BIT_BLOCKS -> 2048 + 512;
      case SIX_BIT_BLOCKS -> 2048 + 1024;
      case HALF_BLOCKS -> 8192;
      default -> 2048;
    };
  }

  /** Returns the bytes of a block of 16 rows by 256 columns. */
  int blockBytes() {
    return codeBytes * (WeightBlocks.COLUMNS / COLUMNS);
  }

  /** Returns the bytes of a chunk's codes. */
  int codeBytes() {
    return codeBytes;
  }

  /** Returns the bytes of a chunk's scales; 0 if there are none. */
  int scaleBytes() {
    return scaleBytes;
  }

  /** Returns the bytes of a chunk's minimums; 0 if there are none. */
  int minimumBytes() {
    return minimumBytes;
  }

  /** Returns the format's part of kernel names. */
  String kernelName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the byte of an 8-bit code within its chunk. */
  static int byteOf(int row, int column) {
    int lane = 4 * (row % 8) + column % 16 / 4;
    int word = row % TILE_ROWS / 8 + 2 * (column % COLUMNS / 16);
    return 16 * lane + 4 * word + column % 4;
  }

  /** Returns the byte of a nibble within its chunk. */
  static int nibbleOf(int row, int column) {
    int wide = byteOf(row, column);
    return wide / 16 * 8 + wide % 16 / 8 * 4 + wide % 4;
  }

  /** Returns the shift of a nibble within its byte. */
  static int nibbleShift(int row) {
    return 4 * (row % TILE_ROWS / 8);
  }

  /** Returns the byte of a fifth bit within its chunk. */
  static int fifthBitOf(int row, int column) {
    int wide = byteOf(row, column);
    return NIBBLE_BYTES + wide / 32 * 4 + wide % 4;
  }

  /** Returns the shift of a fifth bit within its byte. */
  static int fifthBitShift(int row, int column) {
    int wide = byteOf(row, column);
    return wide % 32 / 16 * 4 + wide % 16 / 4;
  }

  /** Returns the byte of the lower two of six bits within its chunk. */
  static int lowerBitsOf(int row, int column) {
    int wide = byteOf(row, column);
    return NIBBLE_BYTES + wide / 16 * 4 + wide % 4;
  }

  /** Returns the shift of the lower two bits within their byte. */
  static int lowerBitsShift(int row, int column) {
    return byteOf(row, column) % 16 / 4 * 2;
  }

  /** Returns the index of a half within its chunk. */
  static int halfOf(int row, int column) {
    int lane = 4 * (row % 8) + column % 8 / 2;
    int word = row % TILE_ROWS / 8 + 2 * (column % 16 / 8);
    return 256 * (column % COLUMNS / 16) + 8 * lane + 2 * word + column % 2;
  }
}
