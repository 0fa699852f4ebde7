package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.format.Tensor;
import java.lang.foreign.MemorySegment;

/** Reads weights in blocks like blocks.cuh, exactly or as the halves that products multiply. */
final class BlockWeights {
  private final WeightFormat format;
  private final MemorySegment blocks;
  private final int columns;

  BlockWeights(WeightFormat format, WeightTiles tiles, int columns) {
    this.format = format;
    this.blocks = tiles.codes();
    this.columns = columns;
  }

  /** Returns the weights of a tensor as the halves that products multiply. */
  static float[] asHalves(Tensor tensor, WeightFormat format) {
    int rows = (int) tensor.shape()[0];
    int columns = (int) tensor.shape()[1];
    long chunks = (long) Math.ceilDiv(rows, WeightFormat.TILE_ROWS) * (columns / 32);
    float[] halves = new float[rows * columns];
    try (WeightTiles tiles = new WeightTiles(format, columns, chunks)) {
      tiles.write(tensor, 0);
      BlockWeights weights = new BlockWeights(format, tiles, columns);
      for (int i = 0; i < halves.length; i++) {
        halves[i] = weights.half(i / columns, i % columns);
      }
    }
    return halves;
  }

  /** Returns a weight without rounding. */
  float exact(int row, int column) {
    return switch (format) {
      case BYTE_BLOCKS, SIGNED_NIBBLE_BLOCKS -> scale(row, column) * code(row, column);
      case NIBBLE_BLOCKS, FIVE_BIT_BLOCKS ->
          Math.fma(
              pairFactor(row, column, 0) * pairScale(row, column),
              code(row, column),
              pairFactor(row, column, 4) * pairMinimum(row, column));
      case SIX_BIT_BLOCKS -> byteFactor(row, column) * byteScale(row, column) * code(row, column);
      default -> plain(row, column);
    };
  }

  /** Returns a weight rounded at each step like the device's. */
  float half(int row, int column) {
    return switch (format) {
      case BYTE_BLOCKS, SIGNED_NIBBLE_BLOCKS -> rounded(scale(row, column) * code(row, column));
      case NIBBLE_BLOCKS, FIVE_BIT_BLOCKS -> {
        float scale = rounded(pairFactor(row, column, 0) * pairScale(row, column));
        float minimum = rounded(pairFactor(row, column, 4) * pairMinimum(row, column));
        yield rounded((float) ((double) scale * code(row, column) + minimum));
      }
      case SIX_BIT_BLOCKS -> {
        float scale = rounded(byteFactor(row, column) * byteScale(row, column));
        yield rounded(scale * code(row, column));
      }
      default -> plain(row, column);
    };
  }

  private static float rounded(float x) {
    return Float.float16ToFloat(Float.floatToFloat16(x));
  }

  private long block(int row, int column) {
    long perRow = columns / WeightBlocks.COLUMNS;
    return (row / WeightBlocks.ROWS * perRow + column / WeightBlocks.COLUMNS) * format.blockBytes();
  }

  private int unsigned(long at) {
    return blocks.get(JAVA_BYTE, at) & 0xFF;
  }

  private float halfAt(long at) {
    return Float.float16ToFloat(blocks.get(JAVA_SHORT_UNALIGNED, at));
  }

  private int code(int row, int column) {
    long block = block(row, column);
    int nibble =
        unsigned(block + WeightBlocks.nibbleOf(row, column)) >> WeightBlocks.nibbleShift(row) & 15;
    return switch (format) {
      case BYTE_BLOCKS -> unsigned(block + WeightBlocks.byteOf(row, column)) - 128;
      case SIGNED_NIBBLE_BLOCKS -> nibble - 8;
      case FIVE_BIT_BLOCKS -> {
        int fifths = unsigned(block + WeightBlocks.fifthBitOf(row, column));
        yield nibble | (fifths >> WeightBlocks.fifthBitShift(row, column) & 1) << 4;
      }
      case SIX_BIT_BLOCKS -> {
        int upper = unsigned(block + WeightBlocks.upperBitsOf(row, column));
        yield (nibble | (upper >> WeightBlocks.upperBitsShift(row, column) & 3) << 4) - 32;
      }
      default -> nibble;
    };
  }

  private long scales(int row, int column) {
    return block(row, column) + format.blockCodeBytes();
  }

  private float scale(int row, int column) {
    return halfAt(scales(row, column) + WeightBlocks.scaleOf(row, column));
  }

  private int pairScale(int row, int column) {
    return lowerPair(row, column) & 15 | (upperPair(row, column) & 3) << 4;
  }

  private int pairMinimum(int row, int column) {
    return lowerPair(row, column) >> 4 | (upperPair(row, column) >> 2 & 3) << 4;
  }

  private int lowerPair(int row, int column) {
    return unsigned(scales(row, column) + WeightBlocks.lowerPairOf(row, column));
  }

  private int upperPair(int row, int column) {
    return unsigned(scales(row, column) + WeightBlocks.upperPairOf(row, column))
        >> WeightBlocks.upperPairShift(column);
  }

  private float pairFactor(int row, int column, int offset) {
    return halfAt(scales(row, column) + WeightBlocks.pairFactorOf(row) + offset);
  }

  private int byteScale(int row, int column) {
    return blocks.get(JAVA_BYTE, scales(row, column) + WeightBlocks.byteScaleOf(row, column));
  }

  private float byteFactor(int row, int column) {
    return halfAt(scales(row, column) + WeightBlocks.byteFactorOf(row));
  }

  private float plain(int row, int column) {
    return halfAt(block(row, column) + 2L * WeightBlocks.halfOf(row, column));
  }
}
