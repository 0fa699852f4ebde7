package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import java.lang.foreign.MemorySegment;

/**
 * Activations for products with weights in blocks: halves in the order of {@link WeightBlocks}. A
 * few rows of generated tokens are in a tile of eight for {@link BlockGemv}; all others are row by
 * row for {@link BlockGemm}.
 *
 * @param rowCapacity rows that {@code rows} has memory for
 */
record BlockOperands(DeviceMemory tiles, DeviceMemory rows, int rowCapacity)
    implements AutoCloseable {
  /** Bytes of the two addresses and the number of rows in tiles, as a kernel argument. */
  static final int BYTES = 24;

  static BlockOperands of(CudaContext context, int maxRows, long columns) {
    int rowCapacity = maxRows + BlockGemm.MAX_TILE_ROWS; // products read whole tiles
    return new BlockOperands(
        context.allocate(BlockGemv.MAX_ROWS * columns * Short.BYTES),
        context.allocate(rowCapacity * columns * Short.BYTES),
        rowCapacity);
  }

  void set(Launch launch, int argument, RowCounts counts) {
    MemorySegment arguments = launch.arguments();
    long at = launch.offset(argument);
    arguments.set(JAVA_LONG, at, tiles.address());
    arguments.set(JAVA_LONG, at + 8, rows.address());
    arguments.set(JAVA_INT, at + 16, BlockGemv.takes(counts) ? counts.generated() : 0);
  }

  @Override
  public void close() {
    Resources.closeAll(tiles, rows);
  }
}
