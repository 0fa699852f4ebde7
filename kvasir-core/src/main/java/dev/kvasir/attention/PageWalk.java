package dev.kvasir.attention;

import dev.kvasir.cache.DenseRows;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.commvq.CodebookPage;
import dev.kvasir.codec.commvq.KeyReading;
import dev.kvasir.codec.pattern.PatternPage;
import dev.kvasir.codec.progressive.ProgressivePage;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.page.Page;
import dev.kvasir.page.UniformPage;
import java.util.Arrays;
import java.util.List;

/**
 * One worker's walk over the blocks of a KV head, with a running maximum and sum for every query
 * row, so that scores never exist for more than a block at a time.
 */
final class PageWalk {
  static final int PAGE = KvCache.TOKENS_PER_PAGE;

  /** Query rows at the most that compute on blocks as they are stored. */
  static final int FEW_ROWS = 8;

  private final AttentionShape shape;
  private final Kernels kernels;
  private final BlockReader expanded;
  private final BlockReader halves;
  private final BlockReader lookups;
  private final BlockReader patterns;
  private final BlockReader progressive;
  private final BlockReader codebooks;
  private final List<BlockReader> readers;

  private final float[] queries; // (rows, headDim), scaled
  private final float[] mixed; // (rows, headDim)
  private final float[] scores; // (rows, PAGE)
  private final float[] maxima; // (rows)
  private final float[] sums; // (rows)
  private int rows;

  PageWalk(AttentionShape shape, Kernels kernels, int mostRows) {
    int headDim = shape.headDim();
    this.shape = shape;
    this.kernels = kernels;
    this.expanded = new ExpandedBlocks(kernels, headDim);
    this.halves = new HalfBlocks(kernels, headDim);
    UniformLookups uniform = new UniformLookups(kernels, headDim);
    this.lookups = uniform;
    this.patterns = new PatternLookups(kernels, headDim, uniform);
    this.progressive = new ProgressiveLookups(headDim, uniform);
    this.codebooks = new CodebookSums(kernels, headDim);
    this.readers = List.of(expanded, halves, lookups, patterns, progressive, codebooks);
    this.queries = new float[mostRows * headDim];
    this.mixed = new float[mostRows * headDim];
    this.scores = new float[mostRows * PAGE];
    this.maxima = new float[mostRows];
    this.sums = new float[mostRows];
  }

  /** Begins with so many rows, whose queries are to be put into {@link #queries}. */
  void begin(int rowCount) {
    rows = rowCount;
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).begin();
    }
    Arrays.fill(mixed, 0, rows * shape.headDim(), 0);
    Arrays.fill(maxima, 0, rows, Float.NEGATIVE_INFINITY);
    Arrays.fill(sums, 0, rows, 0);
  }

  /** Takes the query heads of one token that share a KV head, as rows from {@code row} on. */
  void query(int row, float[] source, int at) {
    int length = shape.queriesPerKvHead() * shape.headDim();
    int to = row * shape.headDim();
    System.arraycopy(source, at, queries, to, length);
    kernels.scale(queries, to, length, (float) (1 / Math.sqrt(shape.headDim())));
  }

  /**
   * Visits a block.
   *
   * @param position of the first token of the queries
   * @param tokens of the block, from its first, that any of the rows may see
   * @param window positions that a query sees, itself included
   */
  void visit(
      KvCache cache, int layer, int kvHead, int block, int position, int tokens, int window) {
    BlockReader reader = reader(cache, layer, block);
    // Where a whole block is read, what is not to be seen weighs zero.
    int read = reader.readsWholeBlocks() ? PAGE : tokens;
    reader.score(cache, layer, kvHead, block, read, queries, rows, scores);
    for (int row = 0; row < rows; row++) {
      int seen = position + row / shape.queriesPerKvHead() - cache.firstPosition(block);
      weigh(row, seen, read, window);
    }
    reader.mix(cache, layer, kvHead, block, read, scores, rows, mixed);
  }

  private BlockReader reader(KvCache cache, int layer, int block) {
    if (rows > FEW_ROWS) {
      return expanded;
    }
    Page page = cache.page(layer, block);
    if (page != null) {
      return switch (page) {
        case UniformPage uniform -> lookups;
        case PatternPage labelled -> patterns;
        case ProgressivePage narrowing -> progressive;
        case CodebookPage coded -> coded.reading() == KeyReading.DECODED ? expanded : codebooks;
        default -> expanded;
      };
    }
    DenseRows dense = cache.denseRows(layer, block);
    return dense.matrix().precision() == Precision.F32 ? expanded : halves;
  }

  /** Turns a row's scores into weights under its new running maximum; unseen tokens weigh zero. */
  private void weigh(int row, int lastSeen, int tokens, int window) {
    int at = row * PAGE;
    int from = Math.clamp(lastSeen - (long) window + 1, 0, tokens);
    int to = Math.clamp(lastSeen + 1L, 0, tokens);
    if (from >= to) {
      Arrays.fill(scores, at, at + tokens, 0);
      return;
    }
    Arrays.fill(scores, at, at + from, 0);
    Arrays.fill(scores, at + to, at + tokens, 0);
    float before = maxima[row];
    float now = Math.max(before, kernels.maximum(scores, at + from, to - from));
    float sum = kernels.exponentiate(scores, at + from, to - from, now);
    if (now > before) {
      float shrink = (float) Math.exp(before - now);
      maxima[row] = now;
      sums[row] *= shrink;
      kernels.scale(mixed, row * shape.headDim(), shape.headDim(), shrink);
      for (int i = 0; i < readers.size(); i++) {
        readers.get(i).shrink(row, shrink);
      }
    }
    sums[row] += sum;
  }

  /** All blocks have been visited. */
  void end() {
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).end(rows, mixed);
    }
  }

  /** Writes the outputs of one token's heads, from {@code row} on. */
  void finish(int row, float[] out, int at) {
    int headDim = shape.headDim();
    int group = shape.queriesPerKvHead();
    for (int r = row; r < row + group; r++) {
      kernels.scale(mixed, r * headDim, headDim, 1 / sums[r]);
    }
    System.arraycopy(mixed, row * headDim, out, at, group * headDim);
  }

  /** Leaves what was found so far, to be merged with walks over other blocks. */
  void leave(PartialOutputs partials, int slot) {
    partials.put(slot, rows, mixed, maxima, sums);
  }
}
