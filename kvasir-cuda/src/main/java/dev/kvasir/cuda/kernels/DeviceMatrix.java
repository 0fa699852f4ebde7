package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;

/**
 * A weight matrix on a device, in tiles that are operands of matrix instructions. Rows are padded
 * with zeros to a multiple of 32, in blocks to a multiple of 128.
 *
 * @param scales null if the format has none
 * @param minimums null if the format has none
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
   * @param blocks whether the device has kernels for weights in blocks
   * @throws InvalidInputException if there are no kernels for the tensor's type
   */
  static WeightFormat format(String file, Tensor tensor, boolean blocks) {
    return WeightFormat.of(tensor.type(), tensor.shape()[1], blocks)
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: tensor '%s' has type %s, which a device has no kernels for"
                        .formatted(file, tensor.name(), tensor.type())));
  }

  /** Uploads matrices of one format and width, stacked vertically. */
  static DeviceMatrix of(
      CudaContext context, CudaStream stream, WeightFormat format, List<Tensor> stacked) {
    try (PendingUploads uploads = new PendingUploads(stream)) {
      return of(context, stream, uploads, format, stacked);
    }
  }

  /**
   * Submits the upload of matrices of one format and width, stacked vertically.
   *
   * @param uploads keeps the host memory until it has been read
   */
  static DeviceMatrix of(
      CudaContext context,
      CudaStream stream,
      PendingUploads uploads,
      WeightFormat format,
      List<Tensor> stacked) {
    int columns = (int) stacked.getFirst().shape()[1];
    int rows = stacked.stream().mapToInt(each -> (int) each.shape()[0]).sum();
    DeviceMatrix matrix = empty(context, format, rows, columns);
    WeightTiles tiles = new WeightTiles(format, columns, chunks(format, rows, columns));
    try {
      int firstRow = 0;
      for (Tensor each : stacked) {
        tiles.write(each, firstRow);
        firstRow += (int) each.shape()[0];
      }
      upload(stream, matrix.codes, tiles.codes());
      upload(stream, matrix.scales, tiles.scales());
      upload(stream, matrix.minimums, tiles.minimums());
    } finally {
      uploads.add(tiles, matrix.bytes());
    }
    return matrix;
  }

  private static void upload(CudaStream stream, DeviceMemory memory, MemorySegment source) {
    if (memory != null) {
      memory.upload(stream, 0, source, source.byteSize());
    }
  }

  private static long chunks(WeightFormat format, int rows, int columns) {
    int step = format.isBlocked() ? WeightBlocks.ROW_STEP : ROW_STEP;
    long tiles = Math.ceilDiv(rows, step) * (long) (step / WeightFormat.TILE_ROWS);
    return tiles * (columns / WeightFormat.COLUMNS);
  }

  /** Returns the bytes of a matrix on a device. */
  static long bytes(WeightFormat format, int rows, int columns) {
    return chunks(format, rows, columns)
        * (format.codeBytes() + format.scaleBytes() + format.minimumBytes());
  }

  private static DeviceMatrix empty(
      CudaContext context, WeightFormat format, int rows, int columns) {
    long chunks = chunks(format, rows, columns);
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

  /**
   * Returns a random matrix for benchmarks; the same 32 rows repeat.
   *
   * @param blocks whether it may be in blocks
   */
  static DeviceMatrix random(
      CudaContext context,
      CudaStream stream,
      GgmlType type,
      int rows,
      int columns,
      boolean blocks) {
    WeightFormat format = WeightFormat.of(type, columns, blocks).orElseThrow();
    DeviceMatrix matrix = empty(context, format, rows, columns);
    long repeated = (long) ROW_STEP / WeightFormat.TILE_ROWS * (columns / WeightFormat.COLUMNS);
    try (WeightTiles tiles = new WeightTiles(format, columns, repeated)) {
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

  /** Writes the addresses of the weights as the first launch arguments. */
  void set(MemorySegment arguments) {
    arguments.set(JAVA_LONG, 0, codes.address());
    arguments.set(JAVA_LONG, 8, address(scales));
    arguments.set(JAVA_LONG, 16, address(minimums));
  }

  /** Returns the device address; 0 for null. */
  static long address(DeviceMemory memory) {
    return memory == null ? 0 : memory.address();
  }

  long bytes() {
    return bytes(codes) + bytes(scales) + bytes(minimums);
  }

  /** Returns the bytes of some memory; 0 for null. */
  static long bytes(DeviceMemory memory) {
    return memory == null ? 0 : memory.bytes();
  }

  @Override
  public void close() {
    Resources.closeAll(codes, scales, minimums);
  }

  /** Tensors of any type with random numbers, for benchmarks and tests. */
  static final class RandomTensor {
    private RandomTensor() {}

    static Tensor of(GgmlType type, int rows, int columns, long seed) {
      Random random = new Random(seed);
      byte[] bytes = new byte[(int) type.bytesFor((long) rows * columns)];
      random.nextBytes(bytes);
      MemorySegment data = MemorySegment.ofArray(bytes);
      if (type == GgmlType.F32) {
        for (int at = 0; at < bytes.length; at += Float.BYTES) {
          data.set(JAVA_FLOAT_UNALIGNED, at, (float) random.nextGaussian() * 0.1f);
        }
        return new Tensor(type + " at random", type, new long[] {rows, columns}, data);
      }
      for (int block = 0; block < bytes.length; block += type.blockBytes()) {
        for (int at : halves(type)) {
          float number = 0.001f + 0.01f * random.nextFloat();
          data.set(JAVA_SHORT_UNALIGNED, block + at, half(type, random, number));
        }
      }
      return new Tensor(type + " at random", type, new long[] {rows, columns}, data);
    }

    private static short half(GgmlType type, Random random, float scale) {
      return switch (type) {
        case F16 -> Float.floatToFloat16((float) random.nextGaussian() * 0.1f);
        case BF16 -> (short) (Float.floatToRawIntBits((float) random.nextGaussian() * 0.1f) >>> 16);
        default -> Float.floatToFloat16(scale);
      };
    }

    /** Returns the offsets of floating-point numbers within a block. */
    private static int[] halves(GgmlType type) {
      return switch (type) {
        case Q4_1, Q5_1, Q4_K, Q5_K -> new int[] {0, 2};
        case Q6_K -> new int[] {208};
        default -> new int[] {0};
      };
    }
  }
}
