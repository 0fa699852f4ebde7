package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Activations for GEMM, in the forms that the weights need. For weights in chunks they are
 * quantized, in tiles of eight rows by 32 columns. Each 32 codes have a scale and a sum, rounded
 * like those on the host. Halves are added if any of these weights are halves. The layout is in
 * weights.cuh.
 *
 * @param codes null if no weights are in chunks, like {@code scales} and {@code sums}
 * @param halves null if no weights in chunks are halves
 * @param blocks null if no weights are in blocks
 */
public record DeviceActivations(
    DeviceMemory codes,
    DeviceMemory scales,
    DeviceMemory sums,
    DeviceMemory halves,
    BlockOperands blocks)
    implements AutoCloseable {
  /** Bytes of the four addresses, as a kernel argument. */
  static final int BYTES = 32;

  /** GEMM blocks read whole tiles, also beyond the last row. */
  private static final int ROW_STEP = 32;

  private static final int GROUP = 32;

  /** Returns activations for products with any of the weights. */
  public static DeviceActivations of(
      CudaContext context, int maxRows, long columns, DeviceWeights weights) {
    return of(context, maxRows, columns, weights.multiplied().toList());
  }

  static DeviceActivations of(
      CudaContext context, int maxRows, long columns, List<StackedMatrices> weights) {
    long numbers = (long) Math.ceilDiv(maxRows, ROW_STEP) * ROW_STEP * columns;
    boolean chunks = weights.stream().anyMatch(StackedMatrices::hasChunks);
    boolean halves = weights.stream().anyMatch(StackedMatrices::hasHalves);
    boolean blocks = weights.stream().anyMatch(StackedMatrices::hasBlocks);
    return new DeviceActivations(
        chunks ? context.allocate(numbers) : null,
        chunks ? context.allocate(numbers / GROUP * Float.BYTES) : null,
        chunks ? context.allocate(numbers / GROUP * Float.BYTES) : null,
        halves ? context.allocate(numbers * Short.BYTES) : null,
        blocks ? BlockOperands.of(context, maxRows, columns) : null);
  }

  void set(Launch launch, int argument) {
    set(launch.arguments(), launch.offset(argument));
  }

  void set(MemorySegment arguments, long at) {
    arguments.set(JAVA_LONG, at, codes.address());
    arguments.set(JAVA_LONG, at + 8, scales.address());
    arguments.set(JAVA_LONG, at + 16, sums.address());
    arguments.set(JAVA_LONG, at + 24, DeviceMatrix.address(halves));
  }

  @Override
  public void close() {
    Resources.closeAll(codes, scales, sums, halves, blocks);
  }
}
