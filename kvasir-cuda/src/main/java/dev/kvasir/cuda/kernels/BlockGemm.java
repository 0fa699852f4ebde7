package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.driver.TensorMap;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Multiplies many rows with weights in blocks, on the matrix units of warpgroups. For rows of
 * prompts, an output is one sum over the columns in order. For generated tokens it is the sum of
 * eight parts, the same as in {@link BlockGemv}; thread blocks share the parts of small matrices.
 * Outputs depend neither on the tile nor on other rows.
 *
 * <p>Its arguments are a tensor map of the rows and, with the offsets in gemm.cuh:
 *
 * <pre>
 *  0 u64 weights    16 u32 rows       24 u32 outputs    32 u32 first row    40 u64 partial sums
 *  8 u64 out        20 u32 columns    28 u32 stride     36 u32 sharing      48 u64 arrivals
 * </pre>
 */
final class BlockGemm implements AutoCloseable {
  static final int MAX_TILE_ROWS = 256;

  private static final int ARGUMENT_BYTES = 56;

  /** Parts of the columns, for rows of generated tokens. */
  private static final int PARTS = 8;

  /** Maximum tiles whose parts are shared; more of them occupy the device anyway. */
  private static final int MAX_SHARED_TILES = 64;

  /** Maximum rows of a tile in parts; there are no registers for more. */
  private static final int MAX_PART_ROWS = 128;

  private static final int THREADS = 384;

  /** Rows of a tile that take about as long to multiply as its weights take to arrive. */
  private static final int TILE_OVERHEAD = 24;

  /**
   * Columns that are multiplied in about the time in which thread blocks leave their sums of a tile
   * and the last one adds them.
   */
  private static final int SHARING_COLUMNS = 730;

  /**
   * Rows of a tile, with the stages of the rings in shared memory, as in kernels.cu.
   *
   * @param rows multiplied at a time
   */
  private record Tile(int rows, int rowStages, int weightStages) {
    /** Thread blocks per multiprocessor, as in gemm.cuh. */
    int blocks() {
      return rows == 32 ? 2 : 1;
    }

    int sharedBytes(WeightFormat format) {
      // Rings of halves are copied by quarters of a block.
      int piece = format.blockBytes() / (format == WeightFormat.HALF_BLOCKS ? 4 : 1);
      int barriers = 2 * Long.BYTES * (rowStages + weightStages);
      int alignment = 1024;
      return rowStages * rows * 128 + weightStages * 8 * piece + barriers + alignment;
    }
  }

  private static final List<Tile> FOUR_BITS =
      List.of(new Tile(256, 5, 3), new Tile(160, 7, 3), new Tile(128, 8, 4), new Tile(64, 8, 6));

  private static final List<Tile> SIX_BITS =
      List.of(new Tile(256, 4, 3), new Tile(160, 6, 3), new Tile(128, 7, 3), new Tile(64, 8, 5));

  private static final Map<WeightFormat, List<Tile>> TILES =
      Map.of(
          WeightFormat.BYTE_BLOCKS,
          List.of(
              new Tile(256, 4, 2), new Tile(160, 6, 2), new Tile(128, 8, 2), new Tile(64, 8, 4)),
          WeightFormat.SIGNED_NIBBLE_BLOCKS,
          FOUR_BITS,
          WeightFormat.NIBBLE_BLOCKS,
          FOUR_BITS,
          WeightFormat.FIVE_BIT_BLOCKS,
          SIX_BITS,
          WeightFormat.SIX_BIT_BLOCKS,
          SIX_BITS,
          WeightFormat.HALF_BLOCKS,
          List.of(
              new Tile(256, 4, 5), new Tile(160, 5, 6), new Tile(128, 6, 7), new Tile(64, 8, 8)));

  private static final List<Tile> FOUR_BITS_IN_PARTS =
      List.of(new Tile(128, 8, 4), new Tile(64, 8, 6), new Tile(32, 9, 4));

  private static final List<Tile> FIVE_BITS_IN_PARTS =
      List.of(new Tile(128, 7, 3), new Tile(64, 8, 5), new Tile(32, 10, 3));

  private static final List<Tile> SIX_BITS_IN_PARTS =
      List.of(new Tile(128, 7, 3), new Tile(64, 8, 5), new Tile(32, 7, 3));

  private static final Map<WeightFormat, List<Tile>> TILES_IN_PARTS =
      Map.of(
          WeightFormat.BYTE_BLOCKS,
          List.of(new Tile(128, 8, 2), new Tile(64, 8, 4), new Tile(32, 10, 2)),
          WeightFormat.SIGNED_NIBBLE_BLOCKS,
          FOUR_BITS_IN_PARTS,
          WeightFormat.NIBBLE_BLOCKS,
          FOUR_BITS_IN_PARTS,
          WeightFormat.FIVE_BIT_BLOCKS,
          FIVE_BITS_IN_PARTS,
          WeightFormat.SIX_BIT_BLOCKS,
          SIX_BITS_IN_PARTS,
          WeightFormat.HALF_BLOCKS,
          List.of(new Tile(128, 6, 7), new Tile(64, 8, 8), new Tile(32, 10, 4)));

  /**
   * How a product is divided among thread blocks.
   *
   * @param sharing thread blocks that share the parts of a tile
   * @param units tiles times these
   */
  private record Division(Tile tile, int sharing, int units) {}

  /** What a tensor map depends on besides the number of rows, which a matrix of operands fixes. */
  private record MapKey(long address, int columns, int tileRows) {}

  private final CudaStream stream;
  private final int multiprocessors;
  private final Map<WeightFormat, Map<Tile, Launch>> prompt = new EnumMap<>(WeightFormat.class);
  private final Map<WeightFormat, Map<Tile, Launch>> inParts = new EnumMap<>(WeightFormat.class);
  private final Map<MapKey, TensorMap> maps = new HashMap<>();
  private final DeviceMemory partials;
  private final DeviceMemory arrivals;

  BlockGemm(KernelModule module, CudaStream stream, Set<WeightFormat> formats) {
    this.stream = stream;
    this.multiprocessors = module.context().device().multiprocessors();
    for (WeightFormat format : formats) {
      if (format.isBlocked()) {
        prompt.put(format, launches(module, "gemm", format, TILES.get(format)));
        inParts.put(format, launches(module, "gemm_parts", format, TILES_IN_PARTS.get(format)));
      }
    }
    long sums = (long) MAX_SHARED_TILES * PARTS * MAX_PART_ROWS * WeightBlocks.ROW_STEP;
    this.partials = module.context().allocate(sums * Float.BYTES);
    this.arrivals = module.context().allocate((long) MAX_SHARED_TILES * Integer.BYTES);
    arrivals.fill(stream, (byte) 0);
  }

  private static Map<Tile, Launch> launches(
      KernelModule module, String name, WeightFormat format, List<Tile> tiles) {
    Map<Tile, Launch> made = new HashMap<>();
    for (Tile tile : tiles) {
      Kernel kernel =
          module.kernel("%s_%s_rows%d".formatted(name, format.kernelName(), tile.rows()));
      int shared = tile.sharedBytes(format);
      kernel.allowSharedBytes(shared);
      made.put(
          tile, new Launch(kernel, TensorMap.BYTES, ARGUMENT_BYTES).block(THREADS).shared(shared));
    }
    return made;
  }

  /** Sets whether products start while the previous kernel ends. */
  void overlap(boolean early) {
    prompt.values().forEach(tiles -> overlap(tiles, early));
    inParts.values().forEach(tiles -> overlap(tiles, early));
  }

  private static void overlap(Map<Tile, Launch> tiles, boolean early) {
    tiles.values().forEach(launch -> launch.programmaticDependent(early));
  }

  /**
   * Multiplies rows of prompts.
   *
   * @param firstRow of the operands
   * @param to device address of the first output of the first of these rows
   */
  void multiplyPrompt(
      DeviceMatrix matrix, BlockOperands operands, int firstRow, int count, long to, int stride) {
    Division division = divide(TILES.get(matrix.format()), matrix, count, 1);
    Launch launch = prompt.get(matrix.format()).get(division.tile());
    multiply(launch, division, matrix, operands, firstRow, count, to, stride);
  }

  /** Multiplies rows of generated tokens, which are the first ones. */
  void multiplyGenerated(
      DeviceMatrix matrix, BlockOperands operands, int count, long to, int stride) {
    Division division = divide(TILES_IN_PARTS.get(matrix.format()), matrix, count, PARTS);
    Launch launch = inParts.get(matrix.format()).get(division.tile());
    multiply(launch, division, matrix, operands, 0, count, to, stride);
  }

  private void multiply(
      Launch launch,
      Division division,
      DeviceMatrix matrix,
      BlockOperands operands,
      int firstRow,
      int count,
      long to,
      int stride) {
    MemorySegment arguments = launch.arguments();
    map(operands, matrix.columns(), division.tile().rows()).set(arguments, launch.offset(0));
    long at = launch.offset(1);
    arguments.set(JAVA_LONG, at, matrix.codes().address());
    arguments.set(JAVA_LONG, at + 8, to);
    arguments.set(JAVA_INT, at + 16, count);
    arguments.set(JAVA_INT, at + 20, matrix.columns());
    arguments.set(JAVA_INT, at + 24, matrix.rows());
    arguments.set(JAVA_INT, at + 28, stride);
    arguments.set(JAVA_INT, at + 32, firstRow);
    arguments.set(JAVA_INT, at + 36, division.sharing());
    arguments.set(JAVA_LONG, at + 40, partials.address());
    arguments.set(JAVA_LONG, at + 48, arrivals.address());
    int slots = multiprocessors * division.tile().blocks();
    launch.grid(Math.min(division.units(), slots), 1, 1).on(stream);
  }

  /**
   * Returns the division with the least work over all rounds of thread blocks; of equals, that with
   * the largest tile and the least sharing.
   */
  private Division divide(List<Tile> choices, DeviceMatrix matrix, int count, int parts) {
    Division best = null;
    long least = Long.MAX_VALUE;
    for (Tile tile : choices) {
      if (tile.blocks() > 1 && count > tile.rows()) {
        continue; // such tiles are for few rows: weights would be read for each of several
      }
      int tiles =
          Math.ceilDiv(matrix.rows(), WeightBlocks.ROW_STEP) * Math.ceilDiv(count, tile.rows());
      int maxSharing = tiles <= MAX_SHARED_TILES ? parts : 1;
      for (int sharing = 1; sharing <= maxSharing; sharing *= 2) {
        long work = cost(tile, matrix.columns(), tiles, sharing);
        if (work < least) {
          least = work;
          best = new Division(tile, sharing, tiles * sharing);
        }
      }
    }
    return best;
  }

  /** Returns rows times columns, with what else takes as long as some of them. */
  private long cost(Tile tile, int columns, int tiles, int sharing) {
    long rows = tile.rows() + TILE_OVERHEAD;
    long added = sharing == 1 ? 0 : SHARING_COLUMNS;
    int rounds = Math.ceilDiv(tiles * sharing, multiprocessors * tile.blocks());
    return rounds * rows * (columns / sharing + added);
  }

  private TensorMap map(BlockOperands operands, int columns, int tileRows) {
    return maps.computeIfAbsent(
        new MapKey(operands.rows().address(), columns, tileRows),
        key -> new TensorMap(key.address(), operands.rowCapacity(), key.columns(), key.tileRows()));
  }

  @Override
  public void close() {
    Resources.closeAll(partials, arrivals);
  }
}
