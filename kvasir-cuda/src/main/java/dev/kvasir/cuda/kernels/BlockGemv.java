package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/**
 * Multiplies up to eight rows of generated tokens with weights in blocks. An output is the sum of
 * eight parts of the columns, which {@link BlockGemm} adds in the same order for more rows.
 *
 * <p>Its argument, with the offsets in gemv.cuh:
 *
 * <pre>
 *  0 u64 weights    16 u64 out     28 u32 columns    36 u32 stride
 *  8 u64 rows       24 u32 rows    32 u32 outputs
 * </pre>
 */
final class BlockGemv {
  /** More rows take less time with {@link BlockGemm}. */
  static final int MAX_ROWS = 8;

  private static final int ARGUMENT_BYTES = 40;
  private static final int WARPS = 16;

  /** Blocks in a warp's ring buffer. */
  private static final Map<WeightFormat, Integer> SLOTS =
      Map.of(
          WeightFormat.BYTE_BLOCKS, 2,
          WeightFormat.SIGNED_NIBBLE_BLOCKS, 2,
          WeightFormat.NIBBLE_BLOCKS, 2,
          WeightFormat.FIVE_BIT_BLOCKS, 2,
          WeightFormat.SIX_BIT_BLOCKS, 2,
          WeightFormat.HALF_BLOCKS, 1);

  /**
   * More than half of a multiprocessor's shared memory, so that it runs one block: blocks of the
   * next kernel, which starts early, would otherwise crowd on some of them.
   */
  private static final int MIN_SHARED_BYTES = 116_000;

  private final CudaStream stream;
  private final int multiprocessors;
  private final Map<WeightFormat, Launch> launches = new EnumMap<>(WeightFormat.class);

  BlockGemv(KernelModule module, CudaStream stream, Set<WeightFormat> formats) {
    this.stream = stream;
    this.multiprocessors = module.context().device().multiprocessors();
    formats.stream()
        .filter(SLOTS::containsKey)
        .forEach(format -> launches.put(format, launch(module, format, SLOTS.get(format))));
  }

  private static Launch launch(KernelModule module, WeightFormat format, int slots) {
    int shared = Math.max(WARPS * slots * format.blockBytes(), MIN_SHARED_BYTES);
    Kernel kernel = module.kernel("gemv_" + format.kernelName());
    kernel.allowSharedBytes(shared);
    return new Launch(kernel, ARGUMENT_BYTES)
        .block(32 * WARPS)
        .shared(shared)
        .programmaticDependent(true);
  }

  /** Returns whether the rows of generated tokens are few enough. */
  static boolean takes(RowCounts counts) {
    return counts.generated() <= MAX_ROWS;
  }

  /**
   * @param count rows of generated tokens
   * @param to device address of the first output
   */
  void multiply(DeviceMatrix matrix, BlockOperands operands, int count, long to, int stride) {
    Launch launch = launches.get(matrix.format());
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 0, matrix.codes().address());
    argument.set(JAVA_LONG, 8, operands.tiles().address());
    argument.set(JAVA_LONG, 16, to);
    argument.set(JAVA_INT, 24, count);
    argument.set(JAVA_INT, 28, matrix.columns());
    argument.set(JAVA_INT, 32, matrix.rows());
    argument.set(JAVA_INT, 36, stride);
    int units = Math.ceilDiv(matrix.rows(), WeightBlocks.ROWS);
    launch.grid(Math.min(units, multiprocessors), 1, 1).on(stream);
  }
}
