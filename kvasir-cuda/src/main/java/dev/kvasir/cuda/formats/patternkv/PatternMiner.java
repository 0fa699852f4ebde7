package dev.kvasir.cuda.formats.patternkv;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
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
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.PageQuantizer.LayerStrides;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.KMeans;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Mines the patterns of sequences by k-means on the device, with the same bits as {@link KMeans}.
 * One launch clusters keys and values of all heads and layers; nothing waits for it.
 *
 * <p>Its argument, with the offsets in mining.cuh:
 *
 * <pre>
 *  0 u64 pages       24 u64 fp16 stride     40 u64 (8) banks    112 u32 turn      124 u32 step
 *  8 u64 draws       32 u64 table stride   104 u64 rotation     116 u32 sides     128 u32 patterns
 * 16 u64 centroids                                              120 u32 samples   132 u32 first
 *                                                                                 136 u32 rounds
 * </pre>
 */
final class PatternMiner implements AutoCloseable {
  /** Maximum vectors per head; longer sequences are sampled at a fixed stride, as on the host. */
  private static final int MAX_SAMPLES = 4096;

  private static final int ARGUMENT_BYTES = 144;
  private static final int THREADS = 256;
  private static final int TOKENS = Fp16Page.TOKENS;

  private final CudaContext context;
  private final PatternkvFormat format;
  private final int headDim;
  private final int kvHeads;
  private final Launch launch;
  private DeviceMemory rotation; // null until first needed, or if patterns do not rotate
  private DeviceMemory centroids; // null until first needed
  private DeviceMemory lists; // draws, then pages; null until first needed

  PatternMiner(KernelModule module, PatternkvFormat format, AttentionShape shape) {
    this.context = module.context();
    this.format = format;
    this.headDim = shape.headDim();
    this.kvHeads = shape.kvHeads();
    Kernel kernel = module.kernel("mine_patterns_d" + headDim);
    kernel.allowSharedBytes(sharedBytes(headDim));
    this.launch = new Launch(kernel, ARGUMENT_BYTES).block(THREADS).shared(sharedBytes(headDim));
  }

  /** Returns the size of MiningMemory in mining.cuh. */
  private static int sharedBytes(int headDim) {
    int tile = 64;
    int chunk = 32;
    int rowBytes = (headDim + 4) * Float.BYTES;
    return tile * rowBytes
        + Math.max(chunk * rowBytes, MAX_SAMPLES * Float.BYTES)
        + Math.max(chunk * headDim, MAX_SAMPLES) * Double.BYTES
        + tile * (chunk + 1) * Float.BYTES
        + PatternPage.MAX_PATTERNS * Float.BYTES
        + MAX_SAMPLES
        + chunk * Integer.BYTES
        + headDim * Float.BYTES
        + 16;
  }

  /** Returns every how many tokens one is sampled. */
  private static int step(int pages) {
    return Math.ceilDiv(TOKENS * pages, MAX_SAMPLES);
  }

  /** Returns the number of patterns that the first blocks of a sequence yield. */
  int count(int pages) {
    return format.sides() == 0
        ? 0
        : Math.min(format.patterns(), Math.ceilDiv(TOKENS * pages, step(pages)));
  }

  /**
   * Mines patterns for every head and writes them to bank pages.
   *
   * @param position of the first block
   * @param fp16 pages of the blocks
   */
  void mine(CacheResources resources, int position, long[] fp16, long[] banks) {
    resources.submit(
        () ->
            resources
                .operations()
                .run((stream, layers) -> mine(stream, layers, position, fp16, banks)));
  }

  private void mine(
      CudaStream stream, LayerStrides layers, int position, long[] fp16, long[] banks) {
    int count = count(fp16.length);
    if (count == 0) {
      return;
    }
    int samples = Math.ceilDiv(TOKENS * fp16.length, step(fp16.length));
    KMeans.Draws draws = KMeans.draws(samples, count);
    ensureCapacity(stream, layers.count(), fp16.length);
    upload(stream, draws.fractions(), fp16);
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 0, lists.address() + (long) Double.BYTES * PatternPage.MAX_PATTERNS);
    argument.set(JAVA_LONG, 8, lists.address());
    argument.set(JAVA_LONG, 16, centroids.address());
    argument.set(JAVA_LONG, 24, layers.fp16Stride());
    argument.set(JAVA_LONG, 32, layers.tableStride());
    for (int i = 0; i < banks.length; i++) {
      argument.set(JAVA_LONG, 40 + 8L * i, banks[i]);
    }
    argument.set(JAVA_LONG, 104, rotation == null ? 0 : rotation.address());
    argument.set(JAVA_INT, 112, format.rotation().map(keys -> keys.turn(position)).orElse(0));
    argument.set(JAVA_INT, 116, format.sides());
    argument.set(JAVA_INT, 120, samples);
    argument.set(JAVA_INT, 124, step(fp16.length));
    argument.set(JAVA_INT, 128, count);
    argument.set(JAVA_INT, 132, draws.first());
    argument.set(JAVA_INT, 136, KMeans.ROUNDS);
    launch.grid(kvHeads, 2, layers.count()).on(stream);
  }

  private void ensureCapacity(CudaStream stream, int layers, int pages) {
    if (rotation == null && format.rotation().isPresent()) {
      rotation = format.rotation().get().upload(context, stream, headDim);
    }
    if (centroids == null) {
      long heads = 2L * layers * kvHeads;
      centroids = context.allocate(heads * format.patterns() * headDim * Float.BYTES);
    }
    long bytes = (long) Long.BYTES * (PatternPage.MAX_PATTERNS + pages);
    if (lists == null || lists.bytes() < bytes) {
      DeviceMemory larger = context.allocate(Long.highestOneBit(bytes) << 1);
      if (lists != null) {
        stream.synchronize(); // an earlier launch may still read it
        lists.close();
      }
      lists = larger;
    }
  }

  private void upload(CudaStream stream, double[] fractions, long[] pages) {
    try (Arena arena = Arena.ofConfined()) {
      int numbers = PatternPage.MAX_PATTERNS + pages.length;
      MemorySegment all = arena.allocate((long) Long.BYTES * numbers, 16);
      MemorySegment.copy(fractions, 0, all, JAVA_DOUBLE, 0, fractions.length);
      long from = (long) Double.BYTES * PatternPage.MAX_PATTERNS;
      MemorySegment.copy(pages, 0, all, JAVA_LONG, from, pages.length);
      // Pageable memory has been read when the call returns.
      lists.upload(stream, 0, all, all.byteSize());
    }
  }

  @Override
  public void close() {
    Resources.closeAll(rotation, centroids, lists);
  }
}
