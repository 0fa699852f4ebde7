package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Device;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/**
 * Multiplies quantized activations with weights in chunks. Up to 32 rows share one read of the
 * weights. A block computes 32 outputs, which halves the reads of activations compared with 16. It
 * computes 16 for small matrices, which would leave most multiprocessors without a block.
 *
 * <p>Its argument, with the offsets in products.cuh:
 *
 * <pre>
 *  0 u64 codes      24 u64 codes of rows   40 u64 sums     56 u64 out     68 u32 columns
 *  8 u64 scales     32 u64 scales          48 u64 halves   64 u32 rows    72 u32 outputs
 * 16 u64 minimums                                                         76 u32 stride
 * </pre>
 */
final class DeviceGemm {
  private static final int THREADS = 256;
  private static final int ARGUMENT_BYTES = 80;
  private static final int ROWS_AT = 24;

  /** Possible rows of a block, in units of eight. */
  private static final int[] COLUMNS = {1, 2, 4};

  private static final int MAX_TILES = 2;

  private final CudaStream stream;
  private final int fewBlocks;
  private final Map<WeightFormat, Launch[][]> launches = new EnumMap<>(WeightFormat.class);

  DeviceGemm(KernelModule module, CudaStream stream, Set<WeightFormat> formats) {
    Device device = module.context().device();
    this.stream = stream;
    this.fewBlocks = device.multiprocessors() / 2;
    for (WeightFormat format : formats) {
      if (!format.isBlocked()) {
        launches.put(format, launches(module, format));
      }
    }
  }

  /** Sets whether kernels start while the previous one ends. */
  void overlap(boolean early) {
    for (Launch[][] ofFormat : launches.values()) {
      for (Launch[] ofSize : ofFormat) {
        for (Launch launch : ofSize) {
          if (launch != null) {
            launch.programmaticDependent(early);
          }
        }
      }
    }
  }

  /**
   * Returns launches by units of eight rows and by tiles; one unit allows one tile only. // (3, 2)
   */
  private static Launch[][] launches(KernelModule module, WeightFormat format) {
    Launch[][] all = new Launch[COLUMNS.length][MAX_TILES];
    for (int i = 0; i < COLUMNS.length; i++) {
      for (int tiles = 1; tiles <= Math.min(COLUMNS[i], MAX_TILES); tiles++) {
        String name =
            "multiply_%s_columns%d_tiles%d".formatted(format.kernelName(), COLUMNS[i], tiles);
        all[i][tiles - 1] = new Launch(module.kernel(name), ARGUMENT_BYTES).block(THREADS);
      }
    }
    return all;
  }

  /**
   * @param to device address of the first output
   */
  void multiply(DeviceMatrix matrix, DeviceActivations rows, int count, long to, int stride) {
    int size = 0;
    while (size + 1 < COLUMNS.length && 8 * COLUMNS[size] < count) {
      size++;
    }
    int rowBlocks = Math.ceilDiv(count, 8 * COLUMNS[size]);
    int tiles = Math.min(COLUMNS[size], MAX_TILES);
    if (rowBlocks * outputBlocks(matrix, tiles) < fewBlocks) {
      tiles = 1;
    }
    Launch launch = launches.get(matrix.format())[size][tiles - 1];
    MemorySegment argument = launch.arguments();
    matrix.set(argument);
    rows.set(argument, ROWS_AT);
    argument.set(JAVA_LONG, 56, to);
    argument.set(JAVA_INT, 64, count);
    argument.set(JAVA_INT, 68, matrix.columns());
    argument.set(JAVA_INT, 72, matrix.rows());
    argument.set(JAVA_INT, 76, stride);
    launch.grid(rowBlocks, outputBlocks(matrix, tiles), 1).on(stream);
  }

  private static int outputBlocks(DeviceMatrix matrix, int tiles) {
    return Math.ceilDiv(matrix.rows(), WeightFormat.TILE_ROWS * tiles);
  }
}
