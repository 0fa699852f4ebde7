package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.BlockLayout;
import dev.kvasir.format.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;

/** A weight matrix in device order, in host memory before the upload. */
final class WeightTiles implements AutoCloseable {
  private static final int TILE_ROWS = WeightFormat.TILE_ROWS;
  private static final int GROUP = WeightFormat.COLUMNS;

  private final Arena arena = Arena.ofShared();
  private final WeightFormat format;
  private final int columns;
  private final MemorySegment codes;
  private final MemorySegment scales;
  private final MemorySegment minimums;

  /**
   * @param chunks number of chunks of 16 rows by 32 columns
   */
  WeightTiles(WeightFormat format, int columns, long chunks) {
    this.format = format;
    this.columns = columns;
    this.codes = arena.allocate(chunks * format.codeBytes(), 16);
    this.scales = arena.allocate(chunks * format.scaleBytes(), 16);
    this.minimums = arena.allocate(chunks * format.minimumBytes(), 16);
  }

  MemorySegment codes() {
    return codes;
  }

  MemorySegment scales() {
    return scales;
  }

  MemorySegment minimums() {
    return minimums;
  }

  /**
   * Writes the rows of a tensor from a row of the matrix on. Threads write whole tiles, since rows
   * of a tile share bytes.
   */
  void write(Tensor tensor, int firstRow) {
    int rows = (int) tensor.shape()[0];
    int firstTile = firstRow / TILE_ROWS;
    int endTile = Math.ceilDiv(firstRow + rows, TILE_ROWS);
    IntStream.range(firstTile, endTile)
        .parallel()
        .forEach(
            tile -> {
              int from = Math.max(tile * TILE_ROWS, firstRow);
              int to = Math.min((tile + 1) * TILE_ROWS, firstRow + rows);
              Row row = new Row();
              for (int i = from; i < to; i++) {
                row.write(tensor, i - firstRow, i);
              }
            });
  }

  /** Scratch arrays for a row in a form common to all types. */
  private final class Row {
    private final byte[] rowCodes = new byte[columns];
    private final float[] rowScales = new float[columns / 16];
    private final float[] rowMinimums = new float[columns / 16];

    void write(Tensor tensor, int from, int to) {
      long offset = tensor.type().bytesFor((long) from * columns);
      switch (format) {
        case HALVES -> writeHalves(tensor, offset, to);
        case BYTES -> writeBytes(tensor, offset, to);
        case NIBBLES -> writeNibbles(tensor, offset, to);
        case SUPER4, SUPER5, SUPER6 -> writeSuperBlocks(tensor, offset, to);
        case HALF_BLOCKS -> writeHalfBlocks(tensor, offset, to);
        case BYTE_BLOCKS, SIGNED_NIBBLE_BLOCKS, NIBBLE_BLOCKS, FIVE_BIT_BLOCKS, SIX_BIT_BLOCKS ->
            writeBlocks(tensor, offset, to);
        default -> writeGroups(tensor, offset, to);
      }
    }

    private void writeHalves(Tensor tensor, long offset, int to) {
      for (int column = 0; column < columns; column++) {
        long at = chunk(to, column) * format.codeBytes() + 2L * WeightFormat.halfOf(to, column);
        codes.set(JAVA_SHORT_UNALIGNED, at, halfAt(tensor, offset, column));
      }
    }

    private void writeBytes(Tensor tensor, long offset, int to) {
      int blockBytes = tensor.type().blockBytes();
      for (int column = 0; column < columns; column += GROUP) {
        long block = offset + (long) column / GROUP * blockBytes;
        long chunk = chunk(to, column);
        writeHalfScale(tensor, block, chunk, to);
        for (int i = 0; i < GROUP; i++) {
          setByte(chunk, to, i, tensor.data().get(JAVA_BYTE, block + 2 + i));
        }
      }
    }

    /** Copies the scale at the start of a block of 32. */
    private void writeHalfScale(Tensor tensor, long block, long chunk, int to) {
      scales.set(
          JAVA_SHORT_UNALIGNED,
          chunk * format.scaleBytes() + 2L * (to % TILE_ROWS),
          tensor.data().get(JAVA_SHORT_UNALIGNED, block));
    }

    private void writeNibbles(Tensor tensor, long offset, int to) {
      unpack(tensor, offset);
      for (int column = 0; column < columns; column++) {
        setNibble(chunk(to, column), to, column, rowCodes[column] - 8); // a file has 0 to 15
      }
      for (int column = 0; column < columns; column += GROUP) {
        long block = offset + (long) column / GROUP * tensor.type().blockBytes();
        writeHalfScale(tensor, block, chunk(to, column), to);
      }
    }

    private void writeSuperBlocks(Tensor tensor, long offset, int to) {
      unpack(tensor, offset);
      for (int column = 0; column < columns; column++) {
        setCode(chunk(to, column), to, column, rowCodes[column]);
      }
      for (int column = 0; column < columns; column += tensor.type().blockLength()) {
        long block = offset + tensor.type().bytesFor(column);
        long at = chunk(to, column) * format.scaleBytes();
        if (format == WeightFormat.SUPER6) {
          KQuantScales.writeSigned(tensor.data(), block, scales, at, to % TILE_ROWS);
        } else {
          KQuantScales.writePairs(tensor.data(), block, scales, at, to % TILE_ROWS);
        }
      }
    }

    private void unpack(Tensor tensor, long offset) {
      BlockLayout layout = tensor.type().layout();
      for (int block = 0; block < columns / layout.blockLength(); block++) {
        long at = offset + (long) block * layout.blockBytes();
        layout.unpack(tensor.data(), at, rowCodes, rowScales, rowMinimums, block);
      }
    }

    private void writeGroups(Tensor tensor, long offset, int to) {
      BlockLayout layout = tensor.type().layout();
      unpack(tensor, offset);
      for (int column = 0; column < columns; column++) {
        setCode(chunk(to, column), to, column, rowCodes[column]);
      }
      for (int group = 0; group < columns / layout.groupLength(); group++) {
        int column = group * layout.groupLength();
        long chunk = chunk(to, column);
        int place = column % GROUP / 16 * TILE_ROWS + to % TILE_ROWS;
        setFloat(scales, chunk * format.scaleBytes() + 4L * place, rowScales[group]);
        if (format.minimumBytes() > 0) {
          float minimum = layout.hasMinimums() ? rowMinimums[group] : 0;
          setFloat(minimums, chunk * format.minimumBytes() + 4L * place, minimum);
        }
      }
    }

    private void writeBlocks(Tensor tensor, long offset, int to) {
      unpack(tensor, offset);
      for (int column = 0; column < columns; column += WeightBlocks.COLUMNS) {
        long block = block(to, column);
        WeightBlocks.writeCodes(format, rowCodes, codes, block, to, column);
        long from = offset + tensor.type().bytesFor(column);
        long scalesAt = block + format.blockCodeBytes();
        WeightBlocks.writeScales(format, tensor.data(), from, codes, scalesAt, to);
      }
    }

    private void writeHalfBlocks(Tensor tensor, long offset, int to) {
      for (int column = 0; column < columns; column++) {
        long at = block(to, column) + 2L * WeightBlocks.halfOf(to, column);
        codes.set(JAVA_SHORT_UNALIGNED, at, halfAt(tensor, offset, column));
      }
    }

    /** Returns the offset of a block. */
    private long block(int row, int column) {
      long index =
          (long) (row / TILE_ROWS) * (columns / WeightBlocks.COLUMNS)
              + column / WeightBlocks.COLUMNS;
      return index * format.blockBytes();
    }

    private long chunk(int row, int column) {
      return (long) (row / TILE_ROWS) * (columns / GROUP) + column / GROUP;
    }

    private void setCode(long chunk, int row, int column, byte code) {
      switch (format) {
        case GROUPS4, SUPER4 -> setNibble(chunk, row, column, code);
        case SUPER5 -> {
          setNibble(chunk, row, column, code);
          int shift = WeightFormat.fifthBitShift(row, column);
          addBits(chunk, WeightFormat.fifthBitOf(row, column), code >>> 4 << shift);
        }
        case SUPER6 -> {
          setNibble(chunk, row, column, code >> 2);
          int shift = WeightFormat.lowerBitsShift(row, column);
          addBits(chunk, WeightFormat.lowerBitsOf(row, column), (code & 3) << shift);
        }
        default -> setByte(chunk, row, column, code);
      }
    }

    private void setByte(long chunk, int row, int column, byte code) {
      codes.set(JAVA_BYTE, chunk * format.codeBytes() + WeightFormat.byteOf(row, column), code);
    }

    private void setNibble(long chunk, int row, int column, int code) {
      int bits = (code & 15) << WeightFormat.nibbleShift(row);
      addBits(chunk, WeightFormat.nibbleOf(row, column), bits);
    }

    private void addBits(long chunk, int place, int bits) {
      long at = chunk * format.codeBytes() + place;
      codes.set(JAVA_BYTE, at, (byte) (codes.get(JAVA_BYTE, at) | bits));
    }

    private void setFloat(MemorySegment target, long at, float number) {
      target.set(JAVA_FLOAT_UNALIGNED, at, number);
    }
  }

  /** Returns a number of a row of a floating-point tensor as fp16. */
  private static short halfAt(Tensor tensor, long row, int column) {
    return switch (tensor.type()) {
      case F32 -> halfOf(tensor, tensor.data().get(JAVA_FLOAT_UNALIGNED, row + 4L * column));
      case BF16 -> {
        int bits = tensor.data().get(JAVA_SHORT_UNALIGNED, row + 2L * column) << 16;
        yield halfOf(tensor, Float.intBitsToFloat(bits));
      }
      default -> tensor.data().get(JAVA_SHORT_UNALIGNED, row + 2L * column);
    };
  }

  /**
   * Converts a number to fp16. Small ones lose what is below 2^-24, and those of F32 what is below
   * eleven bits; numbers out of range are rejected.
   */
  private static short halfOf(Tensor tensor, float number) {
    if (!(Math.abs(number) <= 65504)) {
      throw new InvalidInputException(
          "tensor '%s' has a weight of %s; on a device expected at most 65504"
              .formatted(tensor.name(), number));
    }
    return Float.floatToFloat16(number);
  }

  @Override
  public void close() {
    arena.close();
  }
}
