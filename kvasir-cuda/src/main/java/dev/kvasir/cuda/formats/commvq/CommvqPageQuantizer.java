package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.DequantizeKernel;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.memory.Fp16Page;
import java.lang.foreign.MemorySegment;

/**
 * Quantizes pages to codebook indices with the same bits as the search on the host. Each block of
 * 128 tokens takes four launches for all layers, or seven if a network encodes values.
 *
 * <p>The argument of the first and the last, with the offsets in encode.cuh:
 *
 * <pre>
 *  0 u64 pairs           32 u64 block RoPE   56 u32 first position    72 keys    // {@link VectorMemory}
 *  8 u64 position        40 u64 page RoPE    60 u32 RoPE pages       128 values
 * 16 u64 fp16 stride     48 u64 pair order   64 u32 KV heads
 * 24 u64 packed stride
 * </pre>
 *
 * <p>The arguments of the search, with the offsets in search.cuh: keys or values; and u32 beam, u32
 * tokens of a thread block, u32 rows in shared memory.
 */
final class CommvqPageQuantizer implements PageQuantizer {
  private static final int ARGUMENT_BYTES = 184;
  private static final int SEARCH_BYTES = 12;
  private static final int KEYS_AT = 72;
  private static final int VALUES_AT = 128;
  private static final int UNPACKING_BYTES = 56;
  private static final int THREADS = 256;
  private static final int PAIR_BYTES = 2 * Long.BYTES;
  private static final int BLOCK_PAGES = Fp16Page.BLOCK_PAGES;
  private static final int BLOCK_TOKENS = BLOCK_PAGES * Fp16Page.TOKENS;
  private static final int SIDES = 2;

  private final CommvqFormat format;
  private final KernelModule module;
  private final CudaContext context;
  private final CudaStream stream;
  private final int kvHeads;
  private final Launch prepare;
  private final Kernel searchKernel;
  private final Launch search;
  private final Launch write;
  private final DequantizeKernel dequantize;
  private VectorMemory keys; // null until first needed
  private VectorMemory values; // null if a network encodes them
  private NetworkKernels network; // null unless it encodes values
  private int layers; // capacity of the buffers

  CommvqPageQuantizer(
      KernelModule module, CudaStream stream, CommvqFormat format, AttentionShape shape) {
    HeadBlocks.of(format, shape); // rejects heads without kernels
    this.format = format;
    this.module = module;
    this.context = module.context();
    this.stream = stream;
    this.kvHeads = shape.kvHeads();
    int headDim = shape.headDim();
    String names = "%s_d%d".formatted(format.pageKernels(), headDim);
    this.prepare =
        new Launch(module.kernel("prepare_commvq_d" + headDim), ARGUMENT_BYTES).block(headDim / 2);
    this.searchKernel = module.kernel("search_commvq");
    this.search = new Launch(searchKernel, VectorMemory.BYTES, SEARCH_BYTES).block(THREADS);
    Kernel writeKernel = module.kernel("write_" + names);
    this.write =
        (format.hasNetwork()
                ? new Launch(writeKernel, ARGUMENT_BYTES, NetworkKernels.BYTES)
                : new Launch(writeKernel, ARGUMENT_BYTES))
            .block(THREADS);
    this.dequantize =
        new DequantizeKernel(module.kernel("unpack_" + names), kvHeads, UNPACKING_BYTES);
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
      setArguments(prepare, blockPairs, position, all);
      prepare.grid(BLOCK_TOKENS, all.count(), network == null ? SIDES : 1).on(into);
      search(into, keys, codebooks().keySearchAddress(), all.count());
      setArguments(write, blockPairs, position, all);
      if (network == null) {
        search(into, values, codebooks().valueSearchAddress(), all.count());
      } else {
        DeviceNetwork weights = codebooks().network().orElseThrow();
        network.encode(into, weights, blockPairs, all);
        network.put(write.arguments(), write.offset(1), weights, blockPairs, all);
      }
      write.grid(BLOCK_PAGES, kvHeads, all.count()).on(into);
    }
  }

  private void setArguments(Launch launch, long pairs, long position, LayerStrides all) {
    DeviceCodebooks books = codebooks();
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 0, pairs);
    argument.set(JAVA_LONG, 8, position);
    argument.set(JAVA_LONG, 16, all.fp16Stride());
    argument.set(JAVA_LONG, 24, all.packedStride());
    argument.set(JAVA_LONG, 32, books.blockRopeAddress());
    argument.set(JAVA_LONG, 40, books.pageRopeAddress());
    argument.set(JAVA_LONG, 48, books.pairOrderAddress());
    argument.set(JAVA_INT, 56, books.firstPosition());
    argument.set(JAVA_INT, 60, books.ropePages());
    argument.set(JAVA_INT, 64, kvHeads);
    keys.put(argument, KEYS_AT, books.keySearchAddress());
    if (values != null) {
      values.put(argument, VALUES_AT, books.valueSearchAddress());
    }
  }

  private void search(CudaStream into, VectorMemory vectors, long tables, int layerCount) {
    int beam = format.codebooks().beam();
    SearchShape.Vectors searched =
        new SearchShape.Vectors(
            layerCount * vectors.count(), vectors.length(), vectors.stages(), beam);
    SearchShape shape =
        SearchShape.of(
            searched, context.device().sharedMemoryBytes(), context.device().multiprocessors());
    int sharedBytes = shape.sharedBytes(searched);
    format.requireSharedMemory(context.device(), sharedBytes);
    searchKernel.allowSharedBytes(sharedBytes);
    MemorySegment arguments = search.arguments();
    vectors.put(arguments, 0, tables);
    int at = search.offset(1);
    arguments.set(JAVA_INT, at, beam);
    arguments.set(JAVA_INT, at + 4, shape.tokens());
    arguments.set(JAVA_INT, at + 8, shape.rows());
    search.grid(shape.blocks(), vectors.count(), layerCount).shared(sharedBytes).on(into);
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
    CodebookTableLayout layout = codebooks().layout();
    int dim = layout.headDim();
    int stages = layout.stages();
    int heads = layout.valueHeads();
    keys = new VectorMemory(context, kvHeads, dim, stages, count);
    if (format.hasNetwork()) {
      DeviceNetwork weights = codebooks().network().orElseThrow();
      network = new NetworkKernels(module, weights, kvHeads, count);
    } else {
      values = new VectorMemory(context, kvHeads / heads, heads * dim, heads * stages, count);
    }
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
    arguments.set(JAVA_LONG, at + 40, books.valueStride());
    arguments.set(JAVA_INT, at + 48, books.firstPosition());
    arguments.set(JAVA_INT, at + 52, books.ropePages());
    launch.on(into);
  }

  @Override
  public void close() {
    if (layers > 0) {
      layers = 0;
      Resources.closeAll(keys, values, network);
    }
  }
}
