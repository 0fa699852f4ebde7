package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Weights of 8 bits on a device: the codes and scales of Q8_0 as a file has them, but apart, so
 * that sixteen codes are one aligned access.
 *
 * <pre>
 * codes   (rows, columns) i8
 * scales  (rows, columns / 32) f16
 * </pre>
 */
record DeviceMatrix(int rows, int columns, DeviceMemory codes, DeviceMemory scales)
    implements AutoCloseable {
  private static final int BLOCK = 32;
  private static final int BLOCK_BYTES = 34;

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
    long blocks = (long) rows * columns / BLOCK;
    DeviceMatrix matrix =
        new DeviceMatrix(
            rows, columns, context.allocate(BLOCK * blocks), context.allocate(2 * blocks));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment codes = arena.allocate(BLOCK * blocks);
      MemorySegment scales = arena.allocate(2 * blocks, 2);
      long block = 0;
      for (Tensor each : stacked) {
        for (long at = 0; at < each.data().byteSize(); at += BLOCK_BYTES, block++) {
          scales.set(JAVA_SHORT_UNALIGNED, 2 * block, each.data().get(JAVA_SHORT_UNALIGNED, at));
          MemorySegment.copy(each.data(), at + 2, codes, BLOCK * block, BLOCK);
        }
      }
      matrix.codes.upload(stream, 0, codes, codes.byteSize());
      matrix.scales.upload(stream, 0, scales, scales.byteSize());
      stream.synchronize();
    }
    return matrix;
  }

  @Override
  public void close() {
    codes.close();
    scales.close();
  }
}
