package dev.kvasir.cuda.formats;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.LayerOffsets;
import dev.kvasir.cuda.memory.PageTable;
import dev.kvasir.cuda.memory.PrefillChunks;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Attention of prompt chunks in one layer: many rows of a sequence at once, each up to its own
 * position. A page is read once for 64 queries. Packed pages are dequantized on the fly or
 * beforehand ({@code DequantizedPages}). Layers with {@link AttentionLimits} have a kernel of their
 * own.
 *
 * <p>Its argument, with the offsets in prompt.cuh:
 *
 * <pre>
 *  0 u64 chunks    16 u64 queries   32 u64 packed offset   48 f32 scale     56 u32 query heads
 *  8 u64 entries   24 u64 outputs   40 u64 fp16 offset     52 u32 sharing   60 u32 window
 * 72 u64 scores of learned sinks                                            64 f32 soft cap
 * </pre>
 */
public final class PrefillAttention {
  private static final int ARGUMENT_BYTES = 80;
  private static final int THREADS = 128;
  private static final int BLOCK_QUERIES = 64;

  /** Pages in shared memory: one that is read and one that is fetched. */
  private static final int PAGES_IN_FLIGHT = 2;

  private static final double LOG2_E = 1 / Math.log(2);

  private final AttentionShape shape;
  private final boolean dequantizes;
  private final AttentionLimits limits;
  private final Launch launch;
  private final Launch limitedLaunch; // null if no layer has limits

  private PrefillAttention(
      KernelModule module, PageFormat format, AttentionShape shape, AttentionLimits limits) {
    this.shape = shape;
    this.limits = limits;
    this.dequantizes = format.isQuantized() && !format.prefillReadsPacked();
    PageFormat read = dequantizes ? PageFormat.FP16 : format;
    String name = "read_%s_d%d".formatted(read.kernelName(), shape.headDim());
    this.launch = newLaunch(module.kernel(name));
    this.limitedLaunch = limits.any() ? newLaunch(module.kernel(name + "_limited")) : null;
  }

  private Launch newLaunch(Kernel kernel) {
    int sharedBytes = sharedBytes(shape);
    kernel.allowSharedBytes(sharedBytes);
    Launch made = new Launch(kernel, ARGUMENT_BYTES).block(THREADS).shared(sharedBytes);
    MemorySegment argument = made.arguments();
    argument.set(JAVA_FLOAT, 48, (float) (LOG2_E / Math.sqrt(shape.headDim())));
    argument.set(JAVA_INT, 52, shape.queriesPerKvHead());
    argument.set(JAVA_INT, 56, shape.queryHeads());
    argument.set(JAVA_FLOAT, 64, (float) (LOG2_E * limits.cap()));
    return made;
  }

  private static int sharedBytes(AttentionShape shape) {
    return PAGES_IN_FLIGHT * new Fp16Page(shape.headDim()).bytes();
  }

  /** Returns attention for heads whose pages fit in shared memory; empty otherwise. */
  static Optional<PrefillAttention> of(
      KernelModule module, PageFormat format, AttentionShape shape, AttentionLimits limits) {
    return sharedBytes(shape) <= module.context().device().sharedMemoryBytes()
        ? Optional.of(new PrefillAttention(module, format, shape, limits))
        : Optional.empty();
  }

  /** Returns whether packed pages are dequantized beforehand. */
  boolean dequantizes() {
    return dequantizes;
  }

  /** Returns the number of thread blocks per KV head for rows of a chunk. */
  public int blocks(int rows) {
    return Math.ceilDiv(rows * shape.queriesPerKvHead(), BLOCK_QUERIES);
  }

  /**
   * @param blocks thread blocks of the longest chunk
   * @param sinkScores device address, as in {@link PagedAttention#selectSinks}
   */
  public void attend(
      CudaStream stream,
      PrefillChunks chunks,
      int blocks,
      PageTable table,
      LayerOffsets offsets,
      DeviceMemory queries,
      DeviceMemory outputs,
      long sinkScores) {
    boolean isLimited = limitedLaunch != null && limits.bound(offsets.layer());
    Launch chosen = isLimited ? limitedLaunch : launch;
    MemorySegment argument = chosen.arguments();
    argument.set(JAVA_LONG, 0, chunks.address(offsets.group()));
    argument.set(JAVA_LONG, 8, table.entriesAddress());
    argument.set(JAVA_LONG, 16, queries.address());
    argument.set(JAVA_LONG, 24, outputs.address());
    argument.set(JAVA_LONG, 32, dequantizes ? 0 : offsets.packed());
    argument.set(JAVA_LONG, 40, offsets.fp16());
    argument.set(JAVA_INT, 60, limits.window(offsets.layer()));
    argument.set(JAVA_LONG, 72, sinkScores);
    chosen.grid(blocks, shape.kvHeads(), chunks.count()).on(stream);
  }
}
