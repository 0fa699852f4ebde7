package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.GrowingMemory;
import dev.kvasir.cuda.formats.SplitPlan;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PageTable;
import java.lang.foreign.MemorySegment;

/**
 * Decodes all packed pages to fp16 before attention: the naive decoding that CommVQ's paper
 * compares with (Table 5). Codes become a matrix of zeros and ones, which tensor cores multiply
 * with all codebook rows; keys are then rotated.
 *
 * <p>Its argument, with the offsets in baselines.cuh:
 *
 * <pre>
 *  0 u64 sequences   24 u64 key tables     48 u64 block RoPE   72 u64 packed offset    88 u32 pages per block
 *  8 u64 entries     32 u64 dense keys     56 u64 page RoPE    80 u32 first position
 * 16 u64 fp16 pages  40 u64 value tables   64 u64 pair order   84 u32 RoPE pages
 * </pre>
 */
final class CommvqDecodedPages implements AuxiliaryKernels {
  private static final int ARGUMENT_BYTES = 96;
  private static final int THREADS = 256;

  /** Thread blocks that run on a multiprocessor at a time. */
  private static final int BLOCKS = 3;

  private final CommvqCodebooks model;
  private final DeviceCodebooks codebooks;
  private final int kvHeads;
  private final long entryBytes;
  private final Launch launch;
  private final GrowingMemory pages;

  CommvqDecodedPages(
      KernelModule module, CudaStream stream, CommvqFormat format, AttentionShape shape) {
    this.model = format.codebooks();
    this.codebooks = model.open(module.context(), stream);
    this.kvHeads = shape.kvHeads();
    this.entryBytes = (long) kvHeads * new Fp16Page(shape.headDim()).bytes();
    this.pages = new GrowingMemory(module.context());
    String kernel = "decode_%s_d%d".formatted(format.pageKernels(), shape.headDim());
    this.launch = new Launch(module.kernel(kernel), ARGUMENT_BYTES).block(THREADS);
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 48, codebooks.blockRopeAddress());
    argument.set(JAVA_LONG, 56, codebooks.pageRopeAddress());
    argument.set(JAVA_LONG, 64, codebooks.pairOrderAddress());
    argument.set(JAVA_INT, 80, codebooks.firstPosition());
    argument.set(JAVA_INT, 84, codebooks.ropePages());
    codebooks.denseKeysAddress(0); // uploads them, which no captured graph may do
  }

  @Override
  public void plan(PageTable table, SplitPlan splitPlan) {
    pages.ensureCapacity(table.entries() * entryBytes);
    launch.grid(BLOCKS * splitPlan.splits(), kvHeads, table.sequences());
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 0, table.sequencesAddress());
    argument.set(JAVA_LONG, 8, table.entriesAddress());
    argument.set(JAVA_LONG, 16, workspaceAddress());
    argument.set(JAVA_INT, 88, Math.ceilDiv(splitPlan.pagesPerSplit(), BLOCKS));
  }

  @Override
  public long workspaceAddress() {
    return pages.address();
  }

  @Override
  public void prologue(CudaStream stream, Call call) {
    int layer = call.offsets().layer();
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 24, codebooks.keysAddress(layer));
    argument.set(JAVA_LONG, 32, codebooks.denseKeysAddress(layer));
    argument.set(JAVA_LONG, 40, codebooks.valuesAddress(layer));
    argument.set(JAVA_LONG, 72, call.offsets().packed());
    launch.on(stream);
  }

  @Override
  public void close() {
    Resources.closeAll(pages, model::close);
  }
}
