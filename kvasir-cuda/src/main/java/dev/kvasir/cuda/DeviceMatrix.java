package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Weights on a device, in tiles that are operands of matrix instructions. Rows are filled up with
 * zeros to a multiple of 32.
 *
 * @param scales null where a kind has none
 * @param minimums null where a kind has none
 */
record DeviceMatrix(
    WeightFormat format,
    int rows,
    int columns,
    DeviceMemory codes,
    DeviceMemory scales,
    DeviceMemory minimums)
    implements AutoCloseable {
  private static final int ROW_STEP = 32;

  /**
   * @throws InvalidInputException for types that there are no kernels for
   */
  static WeightFormat format(String file, Tensor tensor) {
    return WeightFormat.of(tensor.type())
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: tensor '%s' has type %s, which a device has no kernels for"
                        .formatted(file, tensor.name(), tensor.type())));
  }

  /** Matrices of one kind and width, one below the other. */
  static DeviceMatrix of(
      CudaContext context, CudaStream stream, WeightFormat format, List<Tensor> stacked) {
    int columns = (int) stacked.getFirst().shape()[1];
    int rows = stacked.stream().mapToInt(each -> (int) each.shape()[0]).sum();
    DeviceMatrix matrix = empty(context, format, rows, columns);
    try (WeightTiles tiles = new WeightTiles(format, columns, chunks(rows, columns))) {
      int firstRow = 0;
      for (Tensor each : stacked) {
        tiles.write(each, firstRow);
        firstRow += (int) each.shape()[0];
      }
      upload(stream, matrix.codes, tiles.codes());
      upload(stream, matrix.scales, tiles.scales());
      upload(stream, matrix.minimums, tiles.minimums());
      stream.synchronize();
    }
    return matrix;
  }

  private static void upload(CudaStream stream, DeviceMemory memory, MemorySegment source) {
    if (memory != null) {
      memory.upload(stream, 0, source, source.byteSize());
    }
  }

  private static long chunks(int rows, int columns) {
    long tiles = Math.ceilDiv(rows, ROW_STEP) * (long) (ROW_STEP / WeightFormat.TILE_ROWS);
    return tiles * (columns / WeightFormat.COLUMNS);
  }

  /** That a matrix takes on a device. */
  static long bytes(WeightFormat format, int rows, int columns) {
    return chunks(rows, columns)
        * (format.codeBytes() + format.scaleBytes() + format.minimumBytes());
  }

  private static DeviceMatrix empty(
      CudaContext context, WeightFormat format, int rows, int columns) {
    long chunks = chunks(rows, columns);
    return new DeviceMatrix(
        format,
        rows,
        columns,
        memory(context, chunks * format.codeBytes()),
        memory(context, chunks * format.scaleBytes()),
        memory(context, chunks * format.minimumBytes()));
  }

  private static DeviceMemory memory(CudaContext context, long bytes) {
    return bytes == 0 ? null : context.allocate(bytes);
  }

  /** Any of a type, the same 32 rows again and again, to measure with. */
  static DeviceMatrix random(
      CudaContext context, CudaStream stream, GgmlType type, int rows, int columns) {
    WeightFormat format = WeightFormat.of(type).orElseThrow();
    DeviceMatrix matrix = empty(context, format, rows, columns);
    try (WeightTiles tiles = new WeightTiles(format, columns, chunks(ROW_STEP, columns))) {
      tiles.write(RandomTensor.of(type, ROW_STEP, columns, 1), 0);
      repeat(stream, matrix.codes, tiles.codes());
      repeat(stream, matrix.scales, tiles.scales());
      repeat(stream, matrix.minimums, tiles.minimums());
    }
    return matrix;
  }

  private static void repeat(CudaStream stream, DeviceMemory memory, MemorySegment source) {
    if (memory != null) {
      memory.fillRepeating(
          stream, (int) source.byteSize(), (bytes, random) -> source.asByteBuffer().get(bytes));
    }
  }

  /** Where the weights lie, as the first of a launch's arguments. */
  void set(MemorySegment arguments) {
    arguments.set(JAVA_LONG, 0, codes.address());
    arguments.set(JAVA_LONG, 8, address(scales));
    arguments.set(JAVA_LONG, 16, address(minimums));
  }

  /** On the device; 0 for what there is none of. */
  static long address(DeviceMemory memory) {
    return memory == null ? 0 : memory.address();
  }

  long bytes() {
    return bytes(codes) + bytes(scales) + bytes(minimums);
  }

  private static long bytes(DeviceMemory memory) {
    return memory == null ? 0 : memory.bytes();
  }

  @Override
  public void close() {
    Resources.closeAll(codes, scales, minimums);
  }
}
