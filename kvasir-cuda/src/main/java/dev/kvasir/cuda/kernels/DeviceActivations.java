package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import java.lang.foreign.MemorySegment;

/**
 * Quantized activations for GEMM, in tiles of eight rows by 32 columns. Each 32 codes have a scale
 * and a sum, rounded like those on the host. Halves are added if any weights are halves. The layout
 * is in weights.cuh.
 *
 * @param halves null if no weights are halves
 */
public record DeviceActivations(
    DeviceMemory codes, DeviceMemory scales, DeviceMemory sums, DeviceMemory halves)
    implements AutoCloseable {
  /** Bytes of the four addresses, as a kernel argument. */
  static final int BYTES = 32;

  /** GEMM blocks read whole tiles, also beyond the last row. */
  private static final int ROW_STEP = 32;

  private static final int GROUP = 32;

  public static DeviceActivations of(
      CudaContext context, int maxRows, long columns, boolean withHalves) {
    long numbers = (long) Math.ceilDiv(maxRows, ROW_STEP) * ROW_STEP * columns;
    return new DeviceActivations(
        context.allocate(numbers),
        context.allocate(numbers / GROUP * Float.BYTES),
        context.allocate(numbers / GROUP * Float.BYTES),
        withHalves ? context.allocate(numbers * Short.BYTES) : null);
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
    Resources.closeAll(codes, scales, sums, halves);
  }
}
