package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * Rows that products take, in tiles of eight rows by 32 columns: codes with a scale and a sum for
 * 32 of them, by the rule of the host's; halves too where weights are no codes. weights.cuh says
 * how they lie.
 *
 * @param halves null where nobody reads them
 */
record DeviceActivations(
    DeviceMemory codes, DeviceMemory scales, DeviceMemory sums, DeviceMemory halves)
    implements AutoCloseable {
  /** Of the addresses, as an argument. */
  static final int BYTES = 32;

  /** Products read as many rows as their blocks take, also behind the last one. */
  private static final int ROW_STEP = 32;

  private static final int GROUP = 32;

  static DeviceActivations of(CudaContext context, int maxRows, long columns, boolean withHalves) {
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
