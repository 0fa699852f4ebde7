package dev.kvasir.cuda.formats.mead;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.formats.GrowingMemory;
import dev.kvasir.cuda.formats.SplitPlan;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PageTable;
import java.lang.foreign.MemorySegment;

/**
 * Dequantizes all packed pages of a layer before attention, where predictions differ by token.
 *
 * <p>Its argument, with the offsets in meadread.cuh; {@link DeviceTables} follow:
 *
 * <pre>
 * 0 u64 sequences   8 u64 entries   16 u64 fp16 pages   24 u32 layer   28 u32 pages per block
 * </pre>
 */
final class MeadDecodedPages implements AuxiliaryKernels {
  private static final int ARGUMENT_BYTES = 32;
  private static final int THREADS = 256;

  /** Pages of a thread block: those of a block of tokens. */
  private static final int PAGES = Fp16Page.BLOCK_PAGES;

  private final MeadModel model;
  private final DeviceTables tables;
  private final int kvHeads;
  private final long entryBytes;
  private final Launch launch;
  private final GrowingMemory pages;

  MeadDecodedPages(KernelModule module, CudaStream stream, MeadModel model, AttentionShape shape) {
    this.model = model;
    this.tables = model.open(module.context(), stream);
    this.kvHeads = shape.kvHeads();
    this.entryBytes = (long) kvHeads * new Fp16Page(shape.headDim()).bytes();
    this.pages = new GrowingMemory(module.context());
    int readingBytes = MeadPageQuantizer.readingBytes(shape.headDim());
    Kernel kernel = module.kernel("decode_mead_d" + shape.headDim());
    kernel.allowSharedBytes(readingBytes);
    this.launch =
        new Launch(kernel, ARGUMENT_BYTES, DeviceTables.BYTES).block(THREADS).shared(readingBytes);
    tables.put(launch.arguments(), launch.offset(1));
    launch.arguments().set(JAVA_INT, 28, PAGES);
  }

  @Override
  public void plan(PageTable table, SplitPlan splitPlan) {
    pages.ensureCapacity(table.entries() * entryBytes);
    int most = splitPlan.splits() * splitPlan.pagesPerSplit();
    launch.grid(Math.ceilDiv(most, PAGES), kvHeads, table.sequences());
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 0, table.sequencesAddress());
    argument.set(JAVA_LONG, 8, table.entriesAddress());
    argument.set(JAVA_LONG, 16, workspaceAddress());
  }

  @Override
  public long workspaceAddress() {
    return pages.address();
  }

  @Override
  public void prologue(CudaStream stream, Call call) {
    launch.arguments().set(JAVA_INT, 24, call.offsets().layer());
    launch.on(stream);
  }

  @Override
  public void close() {
    pages.close();
    model.close();
  }
}
