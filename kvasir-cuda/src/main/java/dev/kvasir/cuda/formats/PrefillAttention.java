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
import java.util.Optional;

/**
 * Attention of prompt chunks in one layer: many rows of a sequence at once, each up to its own
 * position. A page is read once for 64 queries. Packed pages are dequantized on the fly or
 * beforehand ({@code DequantizedPages}).
 *
 * <p>Its argument, with the offsets in prompt.cuh:
 *
 * <pre>
 *  0 u64 chunks    16 u64 queries   32 u64 packed offset   48 f32 scale     56 u32 query heads
 *  8 u64 entries   24 u64 outputs   40 u64 fp16 offset     52 u32 sharing
 * </pre>
 */
public final class PrefillAttention {
  private static final int ARGUMENT_BYTES = 64;
  private static final int THREADS = 128;
  private static final int BLOCK_QUERIES = 64;

  private final AttentionShape shape;
  private final boolean dequantizes;
  private final Launch launch;

  private PrefillAttention(KernelModule module, PageFormat format, AttentionShape shape) {
    this.shape = shape;
    this.dequantizes = format.isQuantized() && !format.prefillReadsPacked();
    PageFormat read = dequantizes ? PageFormat.FP16 : format;
    Kernel kernel = module.kernel("read_%s_d%d".formatted(read.kernelName(), shape.headDim()));
    int sharedBytes = 2 * new Fp16Page(shape.headDim()).bytes();
    kernel.allowSharedBytes(sharedBytes);
    this.launch = new Launch(kernel, ARGUMENT_BYTES).block(THREADS).shared(sharedBytes);
    double scale = 1 / (Math.log(2) * Math.sqrt(shape.headDim()));
    launch.arguments().set(JAVA_FLOAT, 48, (float) scale);
    launch.arguments().set(JAVA_INT, 52, shape.queriesPerKvHead());
    launch.arguments().set(JAVA_INT, 56, shape.queryHeads());
  }

  /** Returns attention for heads with kernels; empty otherwise. */
  static Optional<PrefillAttention> of(
      KernelModule module, PageFormat format, AttentionShape shape) {
    return shape.headDim() < HeadBlocks.WIDE_HEAD_DIM
        ? Optional.of(new PrefillAttention(module, format, shape))
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
   */
  public void attend(
      CudaStream stream,
      PrefillChunks chunks,
      int blocks,
      PageTable table,
      LayerOffsets offsets,
      DeviceMemory queries,
      DeviceMemory outputs) {
    launch.arguments().set(JAVA_LONG, 0, chunks.address(offsets.group()));
    launch.arguments().set(JAVA_LONG, 8, table.entriesAddress());
    launch.arguments().set(JAVA_LONG, 16, queries.address());
    launch.arguments().set(JAVA_LONG, 24, outputs.address());
    launch.arguments().set(JAVA_LONG, 32, dequantizes ? 0 : offsets.packed());
    launch.arguments().set(JAVA_LONG, 40, offsets.fp16());
    launch.grid(blocks, shape.kvHeads(), chunks.count()).on(stream);
  }
}
