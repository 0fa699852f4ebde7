package dev.kvasir.methods.ranked;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.FloatKernels;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * Computes how much attention the tokens of a page receive from recent queries, head by head. With
 * {@code p_qt} the softmax of {@code q.k_t / sqrt(keyDim)} over the page's tokens visible to the
 * query, it is the sum over queries and over the query heads that share the KV head.
 *
 * <p>Attention to other pages is ignored: pages hold no sums over whole sequences, and only tokens
 * of one page compete.
 */
final class ReceivedAttention {
  private static final int TOKENS = Page.TOKENS;

  private final FloatKernels kernels;
  private final RankedSizes sizes;
  private final AttentionAggregation aggregation;
  private final float[] queries; // (queriesPerKvHead, keyDim)
  private final float[] scores; // (queriesPerKvHead, TOKENS)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();
  private final double[] received = new double[TOKENS];
  private final int[] queryCounts = new int[TOKENS];

  ReceivedAttention(FloatKernels kernels, RankedSizes sizes, AttentionAggregation aggregation) {
    this.kernels = kernels;
    this.sizes = sizes;
    this.aggregation = aggregation;
    this.queries = new float[sizes.queriesPerKvHead() * sizes.keyDim()];
    this.scores = new float[sizes.queriesPerKvHead() * TOKENS];
  }

  /**
   * @param position position of the page's first token
   * @param keys (tokens, keyDim) from {@code at} on
   * @return attention by token; overwritten by the next call
   */
  double[] of(RecentQueries recent, int kvHead, int position, float[] keys, int at) {
    Arrays.fill(received, 0);
    Arrays.fill(queryCounts, 0);
    int shared = sizes.queriesPerKvHead();
    int keyDim = sizes.keyDim();
    for (int slot = 0; slot < recent.capacity(); slot++) {
      int visible = Math.min(recent.position(slot) - position + 1, TOKENS);
      if (recent.position(slot) >= 0 && visible > 0) {
        int count = shared * keyDim;
        recent.read(slot, kvHead * count, count, queries, 0);
        kernels.products(
            inputRows.set(queries, shared, keyDim),
            vectorRows.set(keys, at, keyDim, visible, keyDim),
            outputRows.set(scores, 0, TOKENS, shared, visible));
        for (int row = 0; row < shared; row++) {
          add(row * TOKENS, visible, 1 / Math.sqrt(keyDim));
        }
      }
    }
    if (aggregation == AttentionAggregation.MEAN) {
      for (int token = 0; token < TOKENS; token++) {
        received[token] /= Math.max(1, queryCounts[token]);
      }
    }
    return received;
  }

  private void add(int at, int visible, double scale) {
    double most = Double.NEGATIVE_INFINITY;
    for (int token = 0; token < visible; token++) {
      most = Math.max(most, scores[at + token]);
    }
    double sum = 0;
    for (int token = 0; token < visible; token++) {
      sum += StrictMath.exp((scores[at + token] - most) * scale);
    }
    for (int token = 0; token < visible; token++) {
      received[token] += StrictMath.exp((scores[at + token] - most) * scale) / sum;
      queryCounts[token]++;
    }
  }
}
