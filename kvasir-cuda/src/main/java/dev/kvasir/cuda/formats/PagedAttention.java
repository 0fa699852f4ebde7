package dev.kvasir.cuda.formats;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Device;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.memory.LayerOffsets;
import dev.kvasir.cuda.memory.PageTable;
import dev.kvasir.cuda.memory.PrefillChunks;
import java.lang.foreign.MemorySegment;

/**
 * Attention of one query per sequence of a batch, in one layer. Queries and outputs are halves //
 * (sequences, queryHeads, headDim). A batch is {@link #plan planned} when the shape of its table
 * changes. It can then be attended any number of times, also in a graph, because the device reads
 * page counts from the table.
 *
 * <p>Its argument, with the offsets in attention.cuh:
 *
 * <pre>
 *  0 u64 sequences   32 u64 part outputs   64 u64 fp16 offset   80 u32 heads
 *  8 u64 entries     40 u64 part sums      72 f32 scale         84 u32 head blocks
 * 16 u64 queries     48 u64 arrivals       76 u32 sharing       88 u32 pages per split
 * 24 u64 outputs     56 u64 packed offset                       92 u32 stages
 *                                                               96 u32 early
 * 104 u64 tables     112 u64 workspace     120 u64 4-bit offset    128 u64 2-bit offset    136 u64 table offset
 * </pre>
 */
public final class PagedAttention implements AutoCloseable {
  private static final int ARGUMENT_BYTES = 144;
  private static final double LOG2_E = 1 / Math.log(2);

  private final Device device;
  private final PageFormat format;
  private final AttentionShape shape;
  private final HeadBlocks blocks;
  private final int maxSequences;
  private final Kernel kernel;
  private final AuxiliaryKernels auxiliary;
  private final Launch launch;
  private final MemorySegment argument;
  private final DeviceMemory partOutputs;
  private final DeviceMemory partSums;
  private final DeviceMemory arrivals;
  private PageTable table;
  private LayerOffsets offsets = LayerOffsets.FIRST;
  private Tiling tiling;
  private SplitPlan splitPlan;

  /**
   * @throws dev.kvasir.cuda.driver.DeviceException if there is no kernel for the shape
   */
  public PagedAttention(
      KernelModule module,
      CudaStream stream,
      PageFormat format,
      AttentionShape shape,
      int maxSequences) {
    CudaContext context = module.context();
    this.device = context.device();
    this.format = format;
    this.shape = shape;
    this.blocks = HeadBlocks.of(format, shape);
    this.maxSequences = maxSequences;
    this.kernel = module.kernel(blocks.kernelName(format, shape.headDim()));
    this.auxiliary = format.newAuxiliaryKernels(module, stream, shape, maxSequences);
    this.launch = new Launch(kernel, ARGUMENT_BYTES);
    this.argument = launch.arguments();
    long parts = (2L * device.multiprocessors() + (long) rows() * maxSequences) * blocks.heads();
    this.partOutputs =
        context.allocate(parts * auxiliary.accumulatorSize(shape.headDim()) * Float.BYTES);
    this.partSums = context.allocate(parts * 2 * Float.BYTES);
    this.arrivals = context.allocate((long) rows() * maxSequences * Integer.BYTES);
    arrivals.fill(stream, (byte) 0);
    argument.set(JAVA_LONG, 32, partOutputs.address());
    argument.set(JAVA_LONG, 40, partSums.address());
    argument.set(JAVA_LONG, 48, arrivals.address());
    argument.set(JAVA_FLOAT, 72, scale(shape));
    argument.set(JAVA_INT, 76, shape.queriesPerKvHead());
    argument.set(JAVA_INT, 80, blocks.heads());
    argument.set(JAVA_INT, 84, blocks.blocks());
    argument.set(JAVA_LONG, 104, auxiliary.tableAddress(0));
  }

  /** Returns the factor of dot products; softmax uses powers of two. */
  public static float scale(AttentionShape shape) {
    return (float) (LOG2_E / Math.sqrt(shape.headDim()));
  }

  public AttentionShape shape() {
    return shape;
  }

  /** Returns the number of thread blocks of an unsplit sequence. */
  private int rows() {
    return shape.kvHeads() * blocks.blocks();
  }

  /** Plans how a batch is split into thread blocks, by the lengths of its sequences. */
  public void plan(PageTable batch) {
    int longest = 0;
    for (int s = 0; s < batch.sequences(); s++) {
      longest = Math.max(longest, batch.pages(s));
    }
    int splits = Math.max(1, device.multiprocessors() / (batch.sequences() * rows()));
    int units = format.pageUnits() * Math.ceilDiv(longest, splits);
    plan(
        batch,
        Tiling.of(
            format,
            shape.headDim(),
            blocks.maxWarps(format, shape.headDim()),
            device.sharedMemoryBytes(),
            units));
  }

  void plan(PageTable batch, Tiling chosen) {
    double warpPages = (double) chosen.warps() / format.pageUnits();
    plan(batch, chosen, SplitPlan.of(batch, rows(), device.multiprocessors(), warpPages));
  }

  void plan(PageTable batch, Tiling chosen, SplitPlan shared) {
    check(batch);
    table = batch;
    tiling = chosen;
    splitPlan = shared;
    int sharedBytes = tiling.sharedBytes(format, shape.headDim());
    kernel.allowSharedBytes(sharedBytes);
    launch
        .grid(splitPlan.splits(), rows(), table.sequences())
        .block(32 * tiling.warps())
        .shared(sharedBytes);
    argument.set(JAVA_LONG, 8, table.entriesAddress());
    argument.set(JAVA_INT, 88, splitPlan.pagesPerSplit());
    argument.set(JAVA_INT, 92, tiling.stages());
    auxiliary.plan(table, splitPlan);
    argument.set(JAVA_LONG, 112, auxiliary.workspaceAddress());
  }

  private void check(PageTable batch) {
    if (batch.sequences() < 1 || batch.sequences() > maxSequences) {
      throw new IllegalArgumentException(
          "the table has %d sequences; expected 1 to %d"
              .formatted(batch.sequences(), maxSequences));
    }
    for (int s = 0; s < batch.sequences(); s++) {
      if (batch.pages(s) == 0) {
        throw new IllegalArgumentException("sequence %d has no pages".formatted(s));
      }
      if (!format.isQuantized() && batch.packedPages(s) > 0) {
        throw new IllegalArgumentException("sequence %d has packed pages".formatted(s));
      }
    }
  }

  /** Selects the layer whose pages are attended from now on. */
  public void selectLayer(LayerOffsets layer) {
    offsets = layer;
    argument.set(JAVA_LONG, 56, layer.packed());
    argument.set(JAVA_LONG, 64, layer.fp16());
    argument.set(JAVA_LONG, 104, auxiliary.tableAddress(layer.layer()));
    argument.set(JAVA_LONG, 120, layer.fourBit());
    argument.set(JAVA_LONG, 128, layer.twoBit());
    argument.set(JAVA_LONG, 136, layer.tables());
  }

  /**
   * Launches attention for the planned batch.
   *
   * @param early whether the kernel may start before the previous one in the stream has ended;
   *     packed pages are final by then, while fp16 pages may still be written
   */
  public void attend(CudaStream stream, long queries, long outputs, boolean early) {
    boolean overlapped = early && device.computeCapability() >= 90;
    argument.set(JAVA_LONG, 0, table.sequencesAddress(offsets.group()));
    argument.set(JAVA_LONG, 16, queries);
    argument.set(JAVA_LONG, 24, outputs);
    argument.set(JAVA_INT, 96, overlapped ? 1 : 0);
    AuxiliaryKernels.Call call = new AuxiliaryKernels.Call(table, offsets, queries, outputs);
    auxiliary.prologue(stream, call);
    launch.programmaticDependent(overlapped).on(stream);
    auxiliary.epilogue(stream, call);
  }

  /** Passes prompt chunks to the auxiliary kernels; {@link PrefillAttention} attends them. */
  public void observePrefill(CudaStream stream, PrefillChunks chunks, AuxiliaryKernels.Call call) {
    auxiliary.observePrefill(stream, chunks, call);
  }

  /**
   * How a batch is split into blocks and warps.
   *
   * @param workspace address of what the kernel writes in addition to its outputs
   */
  public record LaunchPlan(Tiling tiling, SplitPlan splitPlan, long workspace) {}

  public LaunchPlan launchPlan() {
    return new LaunchPlan(tiling, splitPlan, auxiliary.workspaceAddress());
  }

  /** Returns a description of the plan for users. */
  public String describePlan() {
    return "%s, %d warps of %d stages, %d splits of %d pages"
        .formatted(
            kernel.name(),
            tiling.warps(),
            tiling.stages(),
            splitPlan.splits(),
            splitPlan.pagesPerSplit());
  }

  @Override
  public void close() {
    Resources.closeAll(auxiliary, partOutputs, partSums, arrivals);
  }

  /**
   * The tiling of an attention block: its warps, and the number of units that each has in flight.
   */
  record Tiling(int warps, int stages) {
    /** Static shared memory of a kernel, outside its ring buffers. */
    private static final int OWN_SHARED_BYTES = 2304;

    /** Number of units from which on all warps are used. */
    private static final int MANY = 64;

    private static final int FEW_WARPS = 8;

    /** From this size on, eight warps keep enough bytes in flight to saturate memory. */
    private static final int LARGE_UNIT_BYTES = 8192;

    /**
     * Returns the tiling for a number of units. Many units: as many warps as fit, with a second
     * stage each if possible; more stages gained nothing on an H200. Few units: eight warps, so
     * that each has one or two.
     *
     * @param maxWarps limit set by the kernel's registers
     * @param units maximum units of a block
     */
    static Tiling of(PageFormat format, int headDim, int maxWarps, int sharedBytes, int units) {
      int unit = format.unitBytes(headDim);
      int available = sharedBytes - OWN_SHARED_BYTES - format.blockBytes(headDim);
      boolean large = !format.isQuantized() && unit >= LARGE_UNIT_BYTES;
      return units >= MANY && !large
          ? fitting(maxWarps, available, unit, format.warpBytes(), 2)
          : fitting(
              Math.min(maxWarps, FEW_WARPS), available, unit, format.warpBytes(), large ? 2 : 3);
    }

    private static Tiling fitting(
        int maxWarps, int available, int unit, int warpBytes, int maxStages) {
      int warps = Math.min(maxWarps, available / (unit + warpBytes));
      if (warps > 4) {
        warps -= warps % 4; // the same number for each of a multiprocessor's four schedulers
      }
      return new Tiling(warps, Math.min((available / warps - warpBytes) / unit, maxStages));
    }

    int sharedBytes(PageFormat format, int headDim) {
      return warps * (stages * format.unitBytes(headDim) + format.warpBytes())
          + format.blockBytes(headDim);
    }
  }
}
