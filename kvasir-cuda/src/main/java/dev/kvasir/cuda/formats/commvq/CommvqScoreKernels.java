package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.SplitPlan;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PageTable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Computes scores of keys that are sums of codebook rows, as weights for the output kernel. A
 * record holds 64 times four fp16 weights of a page for up to four heads. They are relative to the
 * maximum score of their 16 tokens; the maxima follow.
 *
 * <p>Its argument, with the offsets in commvq.cuh:
 *
 * <pre>
 *  0 u64 sequences   32 u64 key tables    64 u64 packed offset   80 u32 heads            96 u32 pages per split
 *  8 u64 entries     40 u64 token RoPE    72 f32 scale           84 u32 head blocks     100 u32 scored blocks
 * 16 u64 queries     48 u64 page RoPE     76 u32 sharing         88 u32 first position
 * 24 u64 records     56 u64 pair order                           92 u32 RoPE pages
 * </pre>
 */
final class CommvqScoreKernels implements AuxiliaryKernels {
  private static final int ARGUMENT_BYTES = 104;
  private static final int WARPS = 12; // limited by registers
  private static final int SCORED_HEADS = 8;
  private static final int RECORD_BYTES = Fp16Page.TOKENS * 4 * Short.BYTES + 4 * 4 * Float.BYTES;

  /** Alignment of rows, so that an index can be combined with the address by bit operations. */
  private static final int ROWS_ALIGNMENT = 8192;

  private final CudaContext context;
  private final CommvqCodebooks model;
  private final DeviceCodebooks codebooks;
  private final Launch launch;
  private final MemorySegment argument;
  private final int recordsPerEntry;
  private final int scoredBlocks;
  private final int kvHeads;
  private final List<DeviceMemory> records = new ArrayList<>(); // the last is the largest

  CommvqScoreKernels(
      KernelModule module, CudaStream stream, CommvqFormat format, AttentionShape shape) {
    this.context = module.context();
    this.model = format.codebooks();
    this.codebooks = model.open(context, stream);
    this.kvHeads = shape.kvHeads();
    int headDim = shape.headDim();
    HeadBlocks blocks = HeadBlocks.of(format, shape);
    this.recordsPerEntry = kvHeads * blocks.blocks();
    this.scoredBlocks = Math.ceilDiv(shape.queriesPerKvHead(), SCORED_HEADS);
    Kernel kernel = module.kernel("score_%s_d%d".formatted(format.kernelName(), headDim));
    CodebookTableLayout tables = codebooks.layout();
    int sharedBytes =
        tables.ropeBytes()
            + SCORED_HEADS * headDim * Float.BYTES
            + ROWS_ALIGNMENT
            + tables.sharedKeyBytes();
    format.requireSharedMemory(context.device(), sharedBytes);
    kernel.allowSharedBytes(sharedBytes);
    this.launch = new Launch(kernel, ARGUMENT_BYTES).block(32 * WARPS).shared(sharedBytes);
    this.argument = launch.arguments();
    argument.set(JAVA_LONG, 40, codebooks.tokenRopeAddress());
    argument.set(JAVA_LONG, 48, codebooks.pageRopeAddress());
    argument.set(JAVA_LONG, 56, codebooks.pairOrderAddress());
    argument.set(JAVA_FLOAT, 72, (float) (1 / (Math.log(2) * Math.sqrt(headDim))));
    argument.set(JAVA_INT, 76, shape.queriesPerKvHead());
    argument.set(JAVA_INT, 80, blocks.heads());
    argument.set(JAVA_INT, 84, blocks.blocks());
    argument.set(JAVA_INT, 88, codebooks.firstPosition());
    argument.set(JAVA_INT, 92, codebooks.ropePages());
    argument.set(JAVA_INT, 100, scoredBlocks);
  }

  /** Keeps smaller records allocated, because captured graphs still use them. */
  @Override
  public void plan(PageTable table, SplitPlan splitPlan) {
    long bytes = (long) table.entries() * recordsPerEntry * RECORD_BYTES;
    if (records.isEmpty() || records.getLast().bytes() < bytes) {
      records.add(context.allocate(Long.highestOneBit(bytes) << 1));
    }
    launch.grid(splitPlan.splits(), kvHeads * scoredBlocks, table.sequences());
    argument.set(JAVA_LONG, 0, table.sequencesAddress());
    argument.set(JAVA_LONG, 8, table.entriesAddress());
    argument.set(JAVA_LONG, 24, workspaceAddress());
    argument.set(JAVA_INT, 96, splitPlan.pagesPerSplit());
  }

  @Override
  public long workspaceAddress() {
    return records.isEmpty() ? 0 : records.getLast().address();
  }

  @Override
  public long tableAddress(int layer) {
    return codebooks.valuesAddress(layer);
  }

  @Override
  public void prologue(CudaStream stream, Call call) {
    argument.set(JAVA_LONG, 16, call.queries());
    argument.set(JAVA_LONG, 32, codebooks.keysAddress(call.offsets().layer()));
    argument.set(JAVA_LONG, 64, call.offsets().packed());
    launch.on(stream);
  }

  @Override
  public void close() {
    List<AutoCloseable> all = new ArrayList<>(records);
    all.add(model::close);
    Resources.closeAll(all);
  }
}
