package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Weights of 8 bits on a device: the codes and scales of Q8_0 as a file has them, in tiles of 16
 * rows by 32 columns that lie as an operand of matrix instructions, 16 bytes of a lane.
 *
 * <pre>
 * codes   (row tiles, columns / 32, 32 lanes, 4 words, 4) i8
 *         lane = 4 * (row % 8) + column % 16 / 4; word = row % 16 / 8 + 2 * (column % 32 / 16)
 * scales  (row tiles, columns / 32, 16 rows) f16
 * </pre>
 *
 * Rows are filled up with zeros to a multiple of 32.
 */
record DeviceMatrix(int rows, int columns, DeviceMemory codes, DeviceMemory scales)
    implements AutoCloseable {
  private static final int BLOCK = 32;
  private static final int BLOCK_BYTES = 34;
  private static final int TILE_ROWS = 16;
  private static final int TILE_BYTES = 512;
  private static final int ROW_STEP = 32;
  private static final int RANDOM_BYTES = 1 << 20;

  /**
   * Matrices of one width, one below the other.
   *
   * @throws InvalidInputException for types that there are no kernels for
   */
  static DeviceMatrix of(Context context, Stream stream, String file, List<Tensor> stacked) {
    int columns = (int) stacked.getFirst().shape()[1];
    int rows = 0;
    for (Tensor each : stacked) {
      if (each.type() != GgmlType.Q8_0) {
        throw new InvalidInputException(
            "%s: tensor '%s' has type %s; a device takes Q8_0"
                .formatted(file, each.name(), each.type()));
      }
      rows += (int) each.shape()[0];
    }
    DeviceMatrix matrix = empty(context, rows, columns);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment codes = arena.allocate(matrix.codes.bytes());
      MemorySegment scales = arena.allocate(matrix.scales.bytes(), 2);
      int firstRow = 0;
      for (Tensor each : stacked) {
        lay(each, firstRow, columns / BLOCK, codes, scales);
        firstRow += (int) each.shape()[0];
      }
      matrix.codes.upload(stream, 0, codes, codes.byteSize());
      matrix.scales.upload(stream, 0, scales, scales.byteSize());
      stream.synchronize();
    }
    return matrix;
  }

  private static DeviceMatrix empty(Context context, int rows, int columns) {
    long blocks = Math.ceilDiv(rows, ROW_STEP) * (long) ROW_STEP * (columns / BLOCK);
    return new DeviceMatrix(
        rows, columns, context.allocate(BLOCK * blocks), context.allocate(Short.BYTES * blocks));
  }

  private static void lay(
      Tensor tensor, int firstRow, int groups, MemorySegment codes, MemorySegment scales) {
    long at = 0;
    for (int row = firstRow; at < tensor.data().byteSize(); row++) {
      for (int group = 0; group < groups; group++, at += BLOCK_BYTES) {
        long tile = (long) (row / TILE_ROWS) * groups + group;
        scales.set(
            JAVA_SHORT_UNALIGNED,
            Short.BYTES * (TILE_ROWS * tile + row % TILE_ROWS),
            tensor.data().get(JAVA_SHORT_UNALIGNED, at));
        for (int quad = 0; quad < BLOCK / 4; quad++) { // of columns
          int lane = 4 * (row % 8) + quad % 4;
          int word = row % TILE_ROWS / 8 + 2 * (quad / 4);
          codes.set(
              JAVA_INT_UNALIGNED,
              TILE_BYTES * tile + 16 * lane + 4 * word,
              tensor.data().get(JAVA_INT_UNALIGNED, at + 2 + 4 * quad));
        }
      }
    }
  }

  /** Any numbers about zero whose products with rows stay in their size, to measure with. */
  static DeviceMatrix random(Context context, Stream stream, int rows, int columns) {
    DeviceMatrix matrix = empty(context, rows, columns);
    float spread = 73; // of bytes of any value
    short scale = Float.floatToFloat16((float) (1 / (spread * Math.sqrt(columns))));
    matrix.codes.repeat(stream, RANDOM_BYTES, (bytes, random) -> random.nextBytes(bytes));
    matrix.scales.repeat(
        stream,
        RANDOM_BYTES,
        (bytes, random) -> {
          for (int i = 0; i < bytes.length; i += 2) {
            bytes[i] = (byte) scale;
            bytes[i + 1] = (byte) (scale >> 8);
          }
        });
    return matrix;
  }

  @Override
  public void close() {
    codes.close();
    scales.close();
  }
}
