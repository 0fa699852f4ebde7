package dev.kvasir.cuda.formats.patternkv;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.KMeans;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;

/**
 * Mines the patterns of a sequence's first blocks, once per sequence. It downloads samples of their
 * keys and values layer by layer, clusters them by k-means on the host, and uploads the centroids.
 */
final class PatternMiner {
  /** Maximum vectors per head; longer sequences are sampled at a fixed stride, as on the host. */
  private static final int MAX_SAMPLES = 4096;

  /** Pages per download. */
  private static final int PAGES = 32;

  private static final int TOKENS = Fp16Page.TOKENS;

  private final CacheResources resources;
  private final AttentionShape shape;
  private final long[] fp16;
  private final Fp16Page layout;
  private final int step;
  private final int samples;

  /**
   * @param fp16 fp16 pages of the blocks
   */
  PatternMiner(CacheResources resources, long[] fp16) {
    this.resources = resources;
    this.shape = resources.attention().shape();
    this.fp16 = fp16;
    this.layout = new Fp16Page(shape.headDim());
    int tokens = TOKENS * fp16.length;
    this.step = Math.ceilDiv(tokens, MAX_SAMPLES);
    this.samples = Math.ceilDiv(tokens, step);
  }

  /** Returns the number of sampled vectors per head. */
  int samples() {
    return samples;
  }

  /** Mines patterns for every head and writes them to bank pages. */
  void mineInto(int count, long[] banks) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment pages = arena.allocate(PAGES * resources.fp16Pool().pageBytes(), 16);
      MemorySegment bank = arena.allocate(resources.tablePool().pageBytes(), 16);
      for (int layer = 0; layer < resources.operations().layers(); layer++) {
        float[][] vectors = sampled(pages, layer); // (2 * kvHeads, samples * headDim)
        float[][] patterns = centroids(vectors, count);
        for (int i = 0; i * PatternPage.BANK_PATTERNS < count; i++) {
          fill(bank, patterns, i, count);
          long to = banks[i];
          int ofLayer = layer;
          resources.submit(() -> resources.operations().uploadTable(bank, to, ofLayer));
        }
      }
    }
  }

  /** Returns the keys and then the values of each head. */
  private float[][] sampled(MemorySegment pages, int layer) {
    float[][] vectors = new float[2 * shape.kvHeads()][samples * shape.headDim()];
    for (int first = 0; first < fp16.length; first += PAGES) {
      int from = first;
      int count = Math.min(PAGES, fp16.length - first);
      resources.submit(() -> resources.operations().download(fp16, from, count, layer, pages));
      for (int page = 0; page < count; page++) {
        sample(pages, page, (first + page) * TOKENS, vectors);
      }
    }
    return vectors;
  }

  private void sample(MemorySegment pages, int page, int firstToken, float[][] vectors) {
    int dim = shape.headDim();
    int end = firstToken + TOKENS;
    for (int i = Math.ceilDiv(firstToken, step); i * step < end; i++) {
      int token = i * step - firstToken;
      for (int head = 0; head < shape.kvHeads(); head++) {
        long at = page * resources.fp16Pool().pageBytes() + (long) head * layout.bytes();
        for (int c = 0; c < dim; c++) {
          vectors[2 * head][i * dim + c] = half(pages, at + layout.keyOffset(token, c));
          vectors[2 * head + 1][i * dim + c] = half(pages, at + layout.valueOffset(token, c));
        }
      }
    }
  }

  private static float half(MemorySegment pages, long at) {
    return Float.float16ToFloat(pages.get(JAVA_SHORT, at));
  }

  private float[][] centroids(float[][] vectors, int count) {
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    return IntStream.range(0, vectors.length)
        .parallel()
        .mapToObj(i -> KMeans.centroids(kernels, vectors[i], samples, shape.headDim(), count))
        .toArray(float[][]::new);
  }

  private void fill(MemorySegment bank, float[][] patterns, int number, int count) {
    int dim = shape.headDim();
    int first = number * PatternPage.BANK_PATTERNS;
    for (int i = 0; i < patterns.length; i++) {
      long head = (long) (i / 2) * PatternPage.bankBytes(dim);
      for (int p = first; p < Math.min(count, first + PatternPage.BANK_PATTERNS); p++) {
        long at = head + PatternPage.patternAt(dim, i % 2, p);
        for (int c = 0; c < dim; c++) {
          bank.set(JAVA_SHORT, at + 2L * c, Float.floatToFloat16(patterns[i][p * dim + c]));
        }
      }
    }
  }
}
