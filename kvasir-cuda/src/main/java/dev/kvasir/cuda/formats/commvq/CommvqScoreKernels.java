package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.GrowingMemory;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.SplitPlan;
import dev.kvasir.cuda.memory.PageTable;
import java.lang.foreign.MemorySegment;

/**
 * Computes scores of keys by adding up their codebook rows, once for all query heads that share
 * them, as weights for the output kernel.
 */
final class CommvqScoreKernels implements AuxiliaryKernels {
  /** Warps of a block, limited by registers. */
  private static final int WARPS = 12;

  private static final int WARPS_OF_SHORT_HEADS = 16;
  private static final int SHORT_HEAD_DIM = 64;
  private static final int SCORED_HEADS = 8;

  /** Alignment of rows, so that an index can be combined with the address by bit operations. */
  private static final int ROWS_ALIGNMENT = 8192;

  private final CommvqCodebooks model;
  private final DeviceCodebooks codebooks;
  private final Launch launch;
  private final MemorySegment argument;
  private final int recordsPerEntry;
  private final int scoredBlocks;
  private final int kvHeads;
  private final GrowingMemory records;

  CommvqScoreKernels(
      KernelModule module, CudaStream stream, CommvqFormat format, AttentionShape shape) {
    CudaContext context = module.context();
    this.model = format.codebooks();
    this.records = new GrowingMemory(context);
    this.codebooks = model.open(context, stream);
    this.kvHeads = shape.kvHeads();
    int headDim = shape.headDim();
    HeadBlocks blocks = HeadBlocks.of(format, shape);
    this.recordsPerEntry = kvHeads * blocks.blocks();
    this.scoredBlocks = Math.ceilDiv(shape.queriesPerKvHead(), SCORED_HEADS);
    Kernel kernel = module.kernel("score_%s_d%d".formatted(format.pageKernels(), headDim));
    CodebookTableLayout tables = codebooks.layout();
    int sharedBytes =
        tables.ropeBytes()
            + SCORED_HEADS * headDim * Float.BYTES
            + ROWS_ALIGNMENT
            + tables.sharedKeyBytes();
    format.requireSharedMemory(context.device(), sharedBytes);
    kernel.allowSharedBytes(sharedBytes);
    int warps = headDim <= SHORT_HEAD_DIM ? WARPS_OF_SHORT_HEADS : WARPS;
    this.launch = new Launch(kernel, ScoringArgument.BYTES).block(32 * warps).shared(sharedBytes);
    this.argument = launch.arguments();
    ScoringArgument.set(argument, codebooks, shape, blocks);
    argument.set(JAVA_INT, 100, scoredBlocks);
  }

  @Override
  public void plan(PageTable table, SplitPlan splitPlan) {
    records.ensureCapacity((long) table.entries() * recordsPerEntry * ScoringArgument.RECORD_BYTES);
    launch.grid(splitPlan.splits(), kvHeads * scoredBlocks, table.sequences());
    ScoringArgument.plan(argument, table, splitPlan, workspaceAddress());
  }

  @Override
  public long workspaceAddress() {
    return records.address();
  }

  @Override
  public long tableAddress(int layer) {
    return codebooks.valuesAddress(layer);
  }

  @Override
  public void prologue(CudaStream stream, Call call) {
    ScoringArgument.call(argument, codebooks, call);
    launch.on(stream);
  }

  @Override
  public void close() {
    Resources.closeAll(records, model::close);
  }
}
