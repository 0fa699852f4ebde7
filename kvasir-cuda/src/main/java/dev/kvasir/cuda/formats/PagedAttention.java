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
 * page counts from the table. Layers with {@link AttentionLimits} have a kernel of their own.
 *
 * <p>Its argument, with the offsets in attention.cuh:
 *
 * <pre>
 *  0 u64 sequences   32 u64 part outputs   64 u64 fp16 offset   80 u32 heads
 *  8 u64 entries     40 u64 part sums      72 f32 scale         84 u32 head blocks
 * 16 u64 queries     48 u64 arrivals       76 u32 sharing       88 u32 pages per split
 * 24 u64 outputs     56 u64 packed offset                       92 u32 stages
 *                                                               96 u32 early, 100 u32 short split pages
 * 104 u64 tables     112 u64 workspace     120 u64 4-bit offset    128 u64 2-bit offset    136 u64 table offset
 * 144 u64 first turns of blocks            152 u64 turns           160 u32 rows
 * 164 u32 window     168 f32 soft cap      172 u32 sinks           176 u32 widths of codes
 * 184 u64 scores of learned sinks
 * </pre>
 */
public final class PagedAttention implements AutoCloseable {
  private static final int ARGUMENT_BYTES = 192;
  private static final double LOG2_E = 1 / Math.log(2);

  private final CudaContext context;
  private final Device device;
  private final PageFormat format;
  private final AttentionShape shape;
  private final HeadBlocks blocks;
  private final int maxSequences;
  private final int stepCapacity; // splits of all sequences in a step of the engine
  private final Kernel kernel;
  private final AuxiliaryKernels auxiliary;
  private final Launch launch;
  private final MemorySegment argument;
  private final AttentionLimits limits;
  private final Kernel limitedKernel; // null if no layer has limits
  private final Launch limitedLaunch; // null if no layer has limits
  private DeviceMemory partOutputs;
  private DeviceMemory partSums;
  private int partCapacity;
  private final DeviceMemory arrivals;
  private final SplitTurns turns; // null if blocks have one split each
  private PageTable table;
  private LayerOffsets offsets = LayerOffsets.FIRST;
  private final Tiling usualTiling;
  private Tiling tiling;
  private int sharedBytes; // of that tiling
  private SplitPlan splitPlan;
  private LaunchPlan
      launchPlan; // kept while nothing in it changes, as a step should allocate little

  /**
   * @throws dev.kvasir.cuda.driver.DeviceException if there is no kernel for the shape
   */
  public PagedAttention(
      KernelModule module,
      CudaStream stream,
      PageFormat format,
      AttentionShape shape,
      int maxSequences) {
    this(module, stream, format, shape, maxSequences, AttentionLimits.NONE);
  }

  /**
   * @throws dev.kvasir.cuda.driver.DeviceException if there is no kernel for the shape or the
   *     limits
   */
  PagedAttention(
      KernelModule module,
      CudaStream stream,
      PageFormat format,
      AttentionShape shape,
      int maxSequences,
      AttentionLimits limits) {
    limits.check(format);
    this.limits = limits;
    this.context = module.context();
    this.device = context.device();
    this.format = format;
    this.shape = shape;
    this.blocks = HeadBlocks.of(format, shape);
    this.maxSequences = maxSequences;
    this.usualTiling =
        Tiling.of(
            format,
            shape.headDim(),
            blocks.sets(),
            blocks.maxWarps(format, shape.headDim()),
            device.sharedMemoryBytes());
    this.kernel = module.kernel(blocks.kernelName(format, shape.headDim()));
    this.auxiliary = format.newAuxiliaryKernels(module, stream, shape, maxSequences);
    this.launch = new Launch(kernel, ARGUMENT_BYTES);
    this.argument = launch.arguments();
    this.limitedKernel = limits.any() ? module.kernel(format.limitedKernel(kernel.name())) : null;
    this.limitedLaunch = limits.any() ? new Launch(limitedKernel, ARGUMENT_BYTES) : null;
    this.stepCapacity = SplitPlan.capacity(maxSequences) * rows();
    allocateParts(stepCapacity);
    this.arrivals = context.allocate((long) rows() * maxSequences * Integer.BYTES);
    arrivals.fill(stream, (byte) 0);
    this.turns =
        format.attendsInTurn() ? new SplitTurns(context, stream, rows(), stepCapacity) : null;
    argument.set(JAVA_LONG, 48, arrivals.address());
    argument.set(JAVA_FLOAT, 72, scale(shape));
    argument.set(JAVA_INT, 76, shape.queriesPerKvHead());
    argument.set(JAVA_INT, 80, blocks.heads());
    argument.set(JAVA_INT, 84, blocks.blocks());
    argument.set(JAVA_LONG, 104, auxiliary.tableAddress(0));
    argument.set(JAVA_INT, 160, rows());
    argument.set(JAVA_FLOAT, 168, (float) (LOG2_E * limits.cap()));
    argument.set(JAVA_INT, 164, AttentionLimits.ALL_POSITIONS);
    argument.set(JAVA_INT, 172, limits.sinks());
    selectWidths(0);
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

  private void allocateParts(int splits) {
    long parts = (long) splits * blocks.heads();
    partOutputs =
        context.allocate(parts * auxiliary.accumulatorSize(shape.headDim()) * Float.BYTES);
    partSums = context.allocate(parts * 2 * Float.BYTES);
    partCapacity = splits;
  }

  /**
   * Makes room for the splits of a plan. The memory has moved if it was too small, so recorded
   * launches depend on its address.
   */
  private void ensureParts(int splits) {
    if (splits > partCapacity) {
      Resources.closeAll(partOutputs, partSums);
      allocateParts(splits);
    }
    argument.set(JAVA_LONG, 32, partOutputs.address());
    argument.set(JAVA_LONG, 40, partSums.address());
  }

  /** Returns whether a step may have some sequences of up to some pages. */
  public boolean fits(int sequences, int pages) {
    return (long) sequences * SplitPlan.splits(pages) * rows() <= stepCapacity;
  }

  /**
   * Plans how a batch is split into thread blocks. The tiling depends on the format only and the
   * splits on each sequence's own length, so the result of a sequence does not depend on others.
   */
  public void plan(PageTable batch) {
    plan(batch, usualTiling);
  }

  void plan(PageTable batch, Tiling chosen) {
    plan(batch, chosen, SplitPlan.of(batch, splitPlan));
  }

  void plan(PageTable batch, Tiling chosen, SplitPlan shared) {
    plan(batch, chosen, shared, device.multiprocessors());
  }

  /**
   * @param blockCount thread blocks that take turns, if the format does so
   */
  void plan(PageTable batch, Tiling chosen, SplitPlan shared, int blockCount) {
    check(batch);
    table = batch;
    if (!chosen.equals(tiling)) {
      tiling = chosen;
      sharedBytes = chosen.sharedBytes(format, shape.headDim(), blocks.sets());
    }
    splitPlan = shared;
    ensureParts(splitPlan.splits() * rows() * table.sequences());
    if (turns != null) {
      turns.plan(table, splitPlan, blockCount);
      argument.set(JAVA_LONG, 144, turns.firstTurnsAddress());
      argument.set(JAVA_LONG, 152, turns.turnsAddress());
    }
    configure(kernel, launch);
    if (limitedLaunch != null) {
      configure(limitedKernel, limitedLaunch);
    }
    argument.set(JAVA_LONG, 8, table.entriesAddress());
    argument.set(JAVA_INT, 88, splitPlan.maxPages());
    argument.set(JAVA_INT, 100, splitPlan.shortPages());
    argument.set(JAVA_INT, 92, tiling.stages());
    auxiliary.plan(table, splitPlan);
    argument.set(JAVA_LONG, 112, auxiliary.workspaceAddress());
  }

  private void configure(Kernel planned, Launch with) {
    planned.allowSharedBytes(sharedBytes);
    with.block(32 * tiling.warps()).shared(sharedBytes);
    if (turns == null) {
      with.grid(splitPlan.splits(), rows(), table.sequences());
    } else {
      with.grid(turns.blocks(), 1, 1);
    }
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
    selectWidths(layer.layer());
  }

  /**
   * Selects the scores of learned sinks, one per query head, for attention from now on.
   *
   * @param scores device address of floats, times log2(e); 0 for none
   */
  public void selectSinks(long scores) {
    argument.set(JAVA_LONG, 184, scores);
  }

  private void selectWidths(int layer) {
    argument.set(JAVA_INT, 176, format.codeWidths(layer));
  }

  /** Returns whether no kernel of the format runs between that of the queries and attention. */
  public boolean hasNoAuxiliaryKernels() {
    return auxiliary == AuxiliaryKernels.NONE;
  }

  /**
   * Launches attention for the planned batch.
   *
   * @param early whether the kernel may start before the previous one in the stream has ended;
   *     packed pages are final by then, while fp16 pages may still be written
   */
  public void attend(CudaStream stream, long queries, long outputs, boolean early) {
    boolean overlapped = early && device.hasWarpgroupProducts();
    argument.set(JAVA_LONG, 0, table.sequencesAddress(offsets.group()));
    argument.set(JAVA_LONG, 16, queries);
    argument.set(JAVA_LONG, 24, outputs);
    argument.set(JAVA_INT, 96, overlapped ? 1 : 0);
    AuxiliaryKernels.Call call = new AuxiliaryKernels.Call(table, offsets, queries, outputs);
    auxiliary.prologue(stream, call);
    launch(offsets.layer()).programmaticDependent(overlapped).on(stream);
    auxiliary.epilogue(stream, call);
  }

  /** Returns the launch of a layer's kernel, with all arguments. */
  private Launch launch(int layer) {
    if (limitedLaunch == null || !limits.bound(layer)) {
      return launch;
    }
    limitedLaunch.arguments().copyFrom(argument);
    limitedLaunch.arguments().set(JAVA_INT, 164, limits.window(layer));
    return limitedLaunch;
  }

  /** Passes prompt chunks to the auxiliary kernels; {@link PrefillAttention} attends them. */
  public void observePrefill(CudaStream stream, PrefillChunks chunks, AuxiliaryKernels.Call call) {
    auxiliary.observePrefill(stream, chunks, call);
  }

  /**
   * How a batch is split into blocks and warps.
   *
   * @param blocks thread blocks that take turns; 0 if each has one split
   * @param turns address of the turns; 0 if there are none
   * @param parts address of the outputs of splits
   * @param workspace address of what the kernel writes in addition to its outputs
   */
  public record LaunchPlan(
      Tiling tiling, SplitPlan splitPlan, int blocks, long turns, long parts, long workspace) {
    private boolean isOf(
        Tiling itsTiling,
        SplitPlan itsSplits,
        int itsBlocks,
        long itsTurns,
        long itsParts,
        long itsWorkspace) {
      return tiling.equals(itsTiling)
          && splitPlan.equals(itsSplits)
          && blocks == itsBlocks
          && turns == itsTurns
          && parts == itsParts
          && workspace == itsWorkspace;
    }
  }

  public LaunchPlan launchPlan() {
    int turnBlocks = turns == null ? 0 : turns.blocks();
    long turnsAt = turns == null ? 0 : turns.turnsAddress();
    long parts = partOutputs.address();
    long workspace = auxiliary.workspaceAddress();
    if (launchPlan == null
        || !launchPlan.isOf(tiling, splitPlan, turnBlocks, turnsAt, parts, workspace)) {
      launchPlan = new LaunchPlan(tiling, splitPlan, turnBlocks, turnsAt, parts, workspace);
    }
    return launchPlan;
  }

  /** Returns a description of the plan for users. */
  public String describePlan() {
    return "%s, %d warps of %d stages, %d splits of %d pages%s"
        .formatted(
            kernel.name(),
            tiling.warps(),
            tiling.stages(),
            splitPlan.splits(),
            splitPlan.pagesPerSplit(),
            turns == null ? "" : " in %d blocks".formatted(turns.blocks()));
  }

  @Override
  public void close() {
    Resources.closeAll(auxiliary, partOutputs, partSums, arrivals, turns);
  }

  /**
   * The tiling of an attention block: its warps, and the number of units that each has in flight.
   */
  record Tiling(int warps, int stages) {
    /** Static shared memory of a kernel, outside its ring buffers. */
    private static final int OWN_SHARED_BYTES = 2304;

    private static final int FEW_WARPS = 8;

    /** From this size on, eight warps keep enough bytes in flight to saturate memory. */
    private static final int LARGE_UNIT_BYTES = 8192;

    /**
     * Returns the tiling of a format: as many warps as fit, with a second stage each if possible;
     * more stages gained nothing on an H200.
     *
     * @param sets sets of four heads
     * @param maxWarps limit set by the kernel's registers
     */
    static Tiling of(PageFormat format, int headDim, int sets, int maxWarps, int sharedBytes) {
      int unit = format.unitBytes(headDim);
      int available = sharedBytes - OWN_SHARED_BYTES - blockBytes(format, headDim);
      boolean large = !format.isQuantized() && unit >= LARGE_UNIT_BYTES;
      int warps = large ? Math.min(maxWarps, FEW_WARPS) : maxWarps;
      return fitting(warps, available, unit, warpBytes(format, headDim, sets), 2);
    }

    private static Tiling fitting(
        int maxWarps, int available, int unit, int warpBytes, int maxStages) {
      int warps = Math.min(maxWarps, available / (unit + warpBytes));
      if (warps > 4) {
        warps -= warps % 4; // the same number for each of a multiprocessor's four schedulers
      }
      return new Tiling(warps, Math.min((available / warps - warpBytes) / unit, maxStages));
    }

    /** Outputs of warps have memory of their own if the rings are in use at the same time. */
    private static int warpBytes(PageFormat format, int headDim, int sets) {
      int outputs = format.attendsInTurn() ? sets * HeadBlocks.SET_HEADS * headDim : 0;
      return format.warpBytes() + outputs * Float.BYTES;
    }

    private static int blockBytes(PageFormat format, int headDim) {
      return format.blockBytes(headDim) + (format.attendsInTurn() ? SplitTurns.SHARED_BYTES : 0);
    }

    int sharedBytes(PageFormat format, int headDim, int sets) {
      return warps * (stages * format.unitBytes(headDim) + warpBytes(format, headDim, sets))
          + blockBytes(format, headDim);
    }
  }
}
