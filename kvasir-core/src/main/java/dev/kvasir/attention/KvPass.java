package dev.kvasir.attention;

import dev.kvasir.cache.BlockReaders;
import dev.kvasir.cache.BlockView;
import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowKernels;
import java.util.Arrays;

/**
 * One worker's pass over the blocks of a KV head. It keeps a running maximum and sum for every
 * query row (online softmax), so scores never exist for more than one block.
 */
final class KvPass {
  static final int PAGE = KvCache.TOKENS_PER_PAGE;

  private final AttentionShape shape;
  private final Kernels kernels;
  private final BlockReaders readers;

  private final float[] queries; // (rows, keyDim), scaled
  private final float[] accumulator; // (rows, valueDim)
  private final float[] scores; // (rows, PAGE)
  private final float[] maxima; // (rows)
  private final float[] sums; // (rows)
  private int heads; // query heads per token
  private int rows; // of all tokens

  KvPass(AttentionShape shape, Kernels kernels, int maxRows) {
    this.shape = shape;
    this.kernels = kernels;
    this.readers = new BlockReaders(kernels, shape.keyDim(), shape.valueDim());
    this.queries = new float[maxRows * shape.keyDim()];
    this.accumulator = new float[maxRows * shape.valueDim()];
    this.scores = new float[maxRows * PAGE];
    this.maxima = new float[maxRows];
    this.sums = new float[maxRows];
  }

  /**
   * Starts a pass for the query heads of some tokens.
   *
   * @param computeOnStored whether they compute on stored blocks, or on expanded ones
   * @param first the pass of the first KV head among those that visit each block in turn
   * @param head index of this KV head among them
   * @param headCount their number
   */
  void begin(
      int tokens,
      int headsOfToken,
      boolean computeOnStored,
      KvPass first,
      int head,
      int headCount) {
    heads = headsOfToken;
    rows = tokens * headsOfToken;
    readers.beginPass(computeOnStored, first.readers, head, headCount);
    Arrays.fill(accumulator, 0, rows * shape.valueDim(), 0);
    Arrays.fill(maxima, 0, rows, Float.NEGATIVE_INFINITY);
    Arrays.fill(sums, 0, rows, 0);
  }

  /** Loads the query heads of a token and scales them. */
  void query(int token, float[] source, int at) {
    int length = heads * shape.keyDim();
    int to = token * length;
    System.arraycopy(source, at, queries, to, length);
    kernels.rows().scale(queries, to, length, (float) (1 / Math.sqrt(shape.keyDim())));
  }

  /** Announces the last page of the blocks to its reader. */
  void prefetch(BlockView[] views, int count, int kvHead) {
    int last = count - 1;
    while (last >= 0 && !views[last].prefetch(readers, kvHead)) {
      last--;
    }
  }

  /**
   * Visits a block.
   *
   * @param seen the last token of the block that the first row sees; beyond its end if it sees all
   * @param visible tokens that the last row sees
   * @param window positions that a query sees, itself included
   */
  void visit(BlockView view, int kvHead, int seen, int visible, int window) {
    int tokens = view.tokensToRead(visible);
    view.score(readers, kvHead, tokens, queries, rows, scores);
    softmax(seen, tokens, window);
    view.accumulate(readers, kvHead, tokens, scores, rows, accumulator);
  }

  /**
   * @param seen the last token of the block that the first row sees; beyond its end if it sees all
   */
  private void softmax(int seen, int tokens, int window) {
    for (int row = 0; row < rows; row++) {
      softmax(row, seen + row / heads, tokens, window);
    }
  }

  /** Converts a row's scores to weights under its new running maximum; unseen tokens get zero. */
  private void softmax(int row, int lastSeen, int tokens, int window) {
    int at = row * PAGE;
    int from = Math.clamp(lastSeen - (long) window + 1, 0, tokens);
    int to = Math.clamp(lastSeen + 1L, 0, tokens);
    if (from >= to) {
      Arrays.fill(scores, at, at + tokens, 0);
      return;
    }
    Arrays.fill(scores, at, at + from, 0);
    Arrays.fill(scores, at + to, at + tokens, 0);
    if (shape.softCap() > 0) {
      RowKernels.softCap(scores, at + from, to - from, shape.softCap());
    }
    float before = maxima[row];
    float now = Math.max(before, kernels.rows().maximum(scores, at + from, to - from));
    float sum = kernels.rows().exponentiate(scores, at + from, to - from, now);
    if (now > before) {
      float rescale = (float) Math.exp(before - now);
      maxima[row] = now;
      sums[row] *= rescale;
      kernels.rows().scale(accumulator, row * shape.valueDim(), shape.valueDim(), rescale);
      readers.rescale(row, rescale);
    }
    sums[row] += sum;
  }

  /** Ends the pass, after all blocks have been visited. */
  void end() {
    readers.endPass(rows, accumulator);
  }

  /**
   * Adds attention-sink scores to the softmax denominators of a token's heads: one each, from
   * {@code at} on.
   *
   * @param sinks empty for none
   */
  void sink(int token, float[] sinks, int at) {
    if (sinks.length > 0) {
      for (int head = 0; head < heads; head++) {
        int row = token * heads + head;
        sums[row] += (float) Math.exp(sinks[at + head] - maxima[row]);
      }
    }
  }

  /** Writes the outputs of a token's heads. */
  void finish(int token, float[] out, int at) {
    int valueDim = shape.valueDim();
    int first = token * heads;
    for (int row = first; row < first + heads; row++) {
      kernels.rows().scale(accumulator, row * valueDim, valueDim, 1 / sums[row]);
    }
    System.arraycopy(accumulator, first * valueDim, out, at, heads * valueDim);
  }

  /** Writes the log-sum-exp of a token's heads. */
  void writeLogSums(int token, float[] out, int at) {
    for (int head = 0; head < heads; head++) {
      int row = token * heads + head;
      out[at + head] = logSum(maxima[row], sums[row]);
    }
  }

  /** Returns the logarithm of {@code sum * exp(maximum)}. */
  static float logSum(float maximum, float sum) {
    return (float) (maximum + Math.log(sum));
  }

  /** Stores the partial output of this pass, to be merged with passes over other blocks. */
  void store(PartialOutputs partials, int slot) {
    partials.put(slot, rows, accumulator, maxima, sums);
  }
}
