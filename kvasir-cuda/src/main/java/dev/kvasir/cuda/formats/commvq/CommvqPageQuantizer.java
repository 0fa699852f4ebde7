package dev.kvasir.cuda.formats.commvq;

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
import dev.kvasir.cuda.formats.DequantizeKernel;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.PartialSums;
import java.lang.foreign.MemorySegment;

/**
 * Quantizes pages to codebook indices with the same bits as the search on the host. Each block of
 * 128 tokens takes three launches for all layers.
 *
 * <p>Their argument, with the offsets in encode.cuh:
 *
 * <pre>
 *  0 u64 pairs           32 u64 search tables   64 u64 vectors    96 u32 first position   112 u32 lanes
 *  8 u64 position        40 u64 block RoPE      72 u64 lengths   100 u32 RoPE pages
 * 16 u64 fp16 stride     48 u64 page RoPE       80 u64 fits      104 u32 KV heads
 * 24 u64 packed stride   56 u64 pair order      88 u64 codes     108 u32 beam
 * </pre>
 */
final class CommvqPageQuantizer implements PageQuantizer {
  private static final int ARGUMENT_BYTES = 120;
  private static final int UNPACKING_BYTES = 48;
  private static final int THREADS = 256;
  private static final int SEARCH_TOKENS = 16;
  private static final int PAIR_BYTES = 2 * Long.BYTES;
  private static final int BLOCK_PAGES = Fp16Page.BLOCK_PAGES;
  private static final int BLOCK_TOKENS = BLOCK_PAGES * Fp16Page.TOKENS;
  private static final int SIDES = 2;
  private static final int ROWS = 64;

  private final CommvqFormat format;
  private final CudaContext context;
  private final CudaStream stream;
  private final int kvHeads;
  private final int headDim;
  private final int stages;
  private final Launch prepare;
  private final Launch search;
  private final Launch write;
  private final DequantizeKernel dequantize;
  private DeviceMemory vectors; // null until first needed
  private DeviceMemory lengths;
  private DeviceMemory fits;
  private DeviceMemory codes;
  private int layers; // capacity of the buffers

  CommvqPageQuantizer(
      KernelModule module, CudaStream stream, CommvqFormat format, AttentionShape shape) {
    HeadBlocks.of(format, shape); // rejects heads without kernels
    this.format = format;
    this.context = module.context();
    this.stream = stream;
    this.kvHeads = shape.kvHeads();
    this.headDim = shape.headDim();
    this.stages = format.page(headDim).stages();
    String names = "%s_d%d".formatted(format.kernelName(), headDim);
    this.prepare = new Launch(module.kernel("prepare_" + names), ARGUMENT_BYTES).block(headDim / 2);
    Kernel searchKernel = module.kernel("search_" + names);
    format.requireSharedMemory(context.device(), searchSharedBytes());
    searchKernel.allowSharedBytes(searchSharedBytes());
    this.search =
        new Launch(searchKernel, ARGUMENT_BYTES).block(THREADS).shared(searchSharedBytes());
    this.write = new Launch(module.kernel("write_" + names), ARGUMENT_BYTES).block(THREADS);
    this.dequantize =
        new DequantizeKernel(module.kernel("unpack_" + names), kvHeads, UNPACKING_BYTES);
  }

  /** Returns the size of SearchMemory in encode.cuh. */
  private int searchSharedBytes() {
    int vectorsOfBlock = SEARCH_TOKENS * CommvqCodebooks.MAX_BEAM;
    int rowBytes = (headDim + 4) * Float.BYTES;
    int beams = vectorsOfBlock * (rowBytes + Float.BYTES + stages * Short.BYTES);
    return 2 * beams
        + 2 * ROWS * rowBytes
        + ROWS * ROWS * Float.BYTES
        + vectorsOfBlock * 2 * ROWS * Float.BYTES;
  }

  /** Returns 1: the position of the block. */
  @Override
  public int metadataLongs() {
    return 1;
  }

  @Override
  public void quantize(CudaStream into, int pages, long pairs, long metadata, LayerStrides all) {
    ensureCapacity(all.count());
    for (int block = 0; block < pages / BLOCK_PAGES; block++) {
      long blockPairs = pairs + (long) block * BLOCK_PAGES * PAIR_BYTES;
      long position = metadata == 0 ? 0 : metadata + (long) block * Long.BYTES;
      int heads = SIDES * kvHeads;
      launch(prepare, into, blockPairs, position, all, BLOCK_TOKENS, all.count(), SIDES);
      int parts = BLOCK_TOKENS / SEARCH_TOKENS;
      launch(search, into, blockPairs, position, all, parts, heads, all.count());
      launch(write, into, blockPairs, position, all, BLOCK_PAGES, kvHeads, all.count());
    }
  }

  private void launch(
      Launch launch,
      CudaStream into,
      long pairs,
      long position,
      LayerStrides all,
      int x,
      int y,
      int z) {
    DeviceCodebooks books = codebooks();
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 0, pairs);
    argument.set(JAVA_LONG, 8, position);
    argument.set(JAVA_LONG, 16, all.fp16Stride());
    argument.set(JAVA_LONG, 24, all.packedStride());
    argument.set(JAVA_LONG, 32, books.searchTablesAddress());
    argument.set(JAVA_LONG, 40, books.blockRopeAddress());
    argument.set(JAVA_LONG, 48, books.pageRopeAddress());
    argument.set(JAVA_LONG, 56, books.pairOrderAddress());
    argument.set(JAVA_LONG, 64, vectors.address());
    argument.set(JAVA_LONG, 72, lengths.address());
    argument.set(JAVA_LONG, 80, fits.address());
    argument.set(JAVA_LONG, 88, codes.address());
    argument.set(JAVA_INT, 96, books.firstPosition());
    argument.set(JAVA_INT, 100, books.ropePages());
    argument.set(JAVA_INT, 104, kvHeads);
    argument.set(JAVA_INT, 108, format.codebooks().beam());
    argument.set(JAVA_INT, 112, PartialSums.COUNT);
    launch.grid(x, y, z).on(into);
  }

  private DeviceCodebooks codebooks() {
    return format.codebooks().open(context, stream);
  }

  /** Grows the buffers, which live as long as the context. */
  private void ensureCapacity(int count) {
    if (count <= layers) {
      return;
    }
    close();
    long tokens = (long) count * SIDES * BLOCK_TOKENS;
    long rows = tokens * kvHeads;
    vectors = context.allocate(rows * headDim * Float.BYTES);
    lengths = context.allocate(tokens * Float.BYTES);
    fits = context.allocate(rows * 2 * Double.BYTES);
    codes = context.allocate(rows * stages * Short.BYTES);
    layers = count;
  }

  @Override
  public void dequantize(CudaStream into, int pages, long pairs, long metadata, LayerStrides all) {
    DeviceCodebooks books = codebooks();
    Launch launch = dequantize.prepare(pages, pairs, all);
    int at = launch.offset(1);
    MemorySegment arguments = launch.arguments();
    arguments.set(JAVA_LONG, at, books.keysAddress(0));
    arguments.set(JAVA_LONG, at + 8, books.valuesAddress(0));
    arguments.set(JAVA_LONG, at + 16, books.blockRopeAddress());
    arguments.set(JAVA_LONG, at + 24, books.pageRopeAddress());
    arguments.set(JAVA_LONG, at + 32, books.pairOrderAddress());
    arguments.set(JAVA_INT, at + 40, books.firstPosition());
    arguments.set(JAVA_INT, at + 44, books.ropePages());
    launch.on(into);
  }

  @Override
  public void close() {
    if (layers > 0) {
      layers = 0;
      Resources.closeAll(vectors, lengths, fits, codes);
    }
  }
}
