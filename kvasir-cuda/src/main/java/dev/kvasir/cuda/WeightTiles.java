package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.BlockLayout;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;

/** A matrix in the order of a device, before it is brought there. */
final class WeightTiles implements AutoCloseable {
  private static final int TILE_ROWS = WeightKind.TILE_ROWS;
  private static final int GROUP = WeightKind.COLUMNS;

  private final Arena arena = Arena.ofShared();
  private final WeightKind kind;
  private final int columns;
  private final MemorySegment codes;
  private final MemorySegment scales;
  private final MemorySegment minimums;

  /**
   * @param chunks of 16 rows by 32 columns
   */
  WeightTiles(WeightKind kind, int columns, long chunks) {
    this.kind = kind;
    this.columns = columns;
    this.codes = arena.allocate(chunks * kind.codeBytes(), 16);
    this.scales = arena.allocate(chunks * kind.scaleBytes(), 16);
    this.minimums = arena.allocate(chunks * kind.minimumBytes(), 16);
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

  /** Lays a tensor's rows down, from a row of the matrix on; rows of a tile share bytes. */
  void lay(Tensor tensor, int firstRow) {
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
                row.lay(tensor, i - firstRow, i);
              }
            });
  }

  /** Room for a row in the form that all types share. */
  private final class Row {
    private final byte[] rowCodes = new byte[columns];
    private final float[] rowScales = new float[columns / 16];
    private final float[] rowMinimums = new float[columns / 16];

    void lay(Tensor tensor, int from, int to) {
      long offset = tensor.type().bytesFor((long) from * columns);
      switch (kind) {
        case HALVES -> layHalves(tensor, offset, to);
        case BYTES -> layBytes(tensor, offset, to);
        default -> layGroups(tensor, offset, to);
      }
    }

    private void layHalves(Tensor tensor, long offset, int to) {
      boolean brain = tensor.type() == GgmlType.BF16;
      for (int column = 0; column < columns; column++) {
        short bits = tensor.data().get(JAVA_SHORT_UNALIGNED, offset + 2L * column);
        long at = chunk(to, column) * kind.codeBytes() + 2L * WeightKind.halfOf(to, column);
        codes.set(JAVA_SHORT_UNALIGNED, at, brain ? halfOf(tensor, bits) : bits);
      }
    }

    private void layBytes(Tensor tensor, long offset, int to) {
      int blockBytes = tensor.type().blockBytes();
      for (int column = 0; column < columns; column += GROUP) {
        long block = offset + (long) column / GROUP * blockBytes;
        long chunk = chunk(to, column);
        scales.set(
            JAVA_SHORT_UNALIGNED,
            chunk * kind.scaleBytes() + 2L * (to % TILE_ROWS),
            tensor.data().get(JAVA_SHORT_UNALIGNED, block));
        for (int i = 0; i < GROUP; i++) {
          setByte(chunk, to, i, tensor.data().get(JAVA_BYTE, block + 2 + i));
        }
      }
    }

    private void layGroups(Tensor tensor, long offset, int to) {
      BlockLayout layout = tensor.type().layout();
      for (int block = 0; block < columns / layout.blockLength(); block++) {
        int group = block * layout.groupsPerBlock();
        layout.unpack(
            tensor.data(),
            offset + (long) block * layout.blockBytes(),
            rowCodes,
            block * layout.blockLength(),
            rowScales,
            group,
            rowMinimums,
            group);
      }
      for (int column = 0; column < columns; column++) {
        setCode(chunk(to, column), to, column, rowCodes[column]);
      }
      for (int group = 0; group < columns / layout.groupLength(); group++) {
        int column = group * layout.groupLength();
        long chunk = chunk(to, column);
        int place = column % GROUP / 16 * TILE_ROWS + to % TILE_ROWS;
        setFloat(scales, chunk * kind.scaleBytes() + 4L * place, rowScales[group]);
        if (kind.minimumBytes() > 0) {
          float minimum = layout.hasMinimums() ? rowMinimums[group] : 0;
          setFloat(minimums, chunk * kind.minimumBytes() + 4L * place, minimum);
        }
      }
    }

    private long chunk(int row, int column) {
      return (long) (row / TILE_ROWS) * (columns / GROUP) + column / GROUP;
    }

    private void setCode(long chunk, int row, int column, byte code) {
      if (kind == WeightKind.GROUPS4) {
        setNibble(chunk, row, column, code);
      } else {
        setByte(chunk, row, column, code);
      }
    }

    private void setByte(long chunk, int row, int column, byte code) {
      codes.set(JAVA_BYTE, chunk * kind.codeBytes() + WeightKind.byteOf(row, column), code);
    }

    private void setNibble(long chunk, int row, int column, byte code) {
      int wide = WeightKind.byteOf(row, column);
      int word = wide / 4 % 4;
      long at = chunk * kind.codeBytes() + wide / 16 * 8 + word / 2 * 4 + wide % 4;
      codes.set(JAVA_BYTE, at, (byte) (codes.get(JAVA_BYTE, at) | code << 4 * (word % 2)));
    }

    private void setFloat(MemorySegment target, long at, float number) {
      target.set(JAVA_FLOAT_UNALIGNED, at, number);
    }
  }

  /** Small numbers lose what is below 2^-24; large ones have no half. */
  private static short halfOf(Tensor tensor, short brain) {
    float number = Float.intBitsToFloat(brain << 16);
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
