package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * A tile of attention weights between some queries and keys of a head, and their gradients. With
 * weights P, output gradients dO and values V, {@code dP = dO . V}, {@code dS = P * (dP - sum of P
 * * dP)}, and queries, keys and values get {@code dS . K}, {@code dS' . Q} and {@code P' . dO}.
 */
final class AttentionTile {
  static final int SIZE = 64;

  private final Kernels kernels;
  private final LayerVectors vectors;
  private final ScoreRules rules;
  private final float[] weights = new float[SIZE * SIZE]; // (queries, keys)
  private final float[] gradients = new float[SIZE * SIZE]; // (queries, keys), of scores
  private final float[] slopes; // (queries, keys), of soft-capped scores; empty without a cap
  private final float[] transposed = new float[SIZE * SIZE]; // (keys, queries)

  private int firstQuery;
  private int queries;
  private int queryAt;
  private int queryStride;
  private int firstKey;
  private int keys;
  private int keyAt;
  private int keyStride;

  AttentionTile(Kernels kernels, LayerVectors vectors, ScoreRules rules) {
    this.kernels = kernels;
    this.vectors = vectors;
    this.rules = rules;
    this.slopes = new float[rules.cap() > 0 ? SIZE * SIZE : 0];
  }

  void place(
      int newFirstQuery,
      int queryCount,
      int newQueryAt,
      int newQueryStride,
      int newFirstKey,
      int keyCount,
      int newKeyAt,
      int newKeyStride) {
    firstQuery = newFirstQuery;
    queries = queryCount;
    queryAt = newQueryAt;
    queryStride = newQueryStride;
    firstKey = newFirstKey;
    keys = keyCount;
    keyAt = newKeyAt;
    keyStride = newKeyStride;
  }

  /**
   * @param window positions that count; at most those of the rules
   * @param logSums log-sum-exp of each query by position, from {@code sumsAt} on
   */
  void computeWeights(int headDim, int window, float[] logSums, int sumsAt) {
    multiply(vectors.queries(), vectors.keys(), headDim, weights);
    for (int row = 0; row < queries; row++) {
      int position = firstQuery + row;
      int from = Math.clamp((long) position - window + 1 - firstKey, 0, keys);
      int to = Math.clamp((long) position + 1 - firstKey, from, keys);
      int at = row * SIZE;
      rules.score(kernels, weights, at + from, to - from);
      setSlopes(at + from, at + to);
      kernels.rows().exponentiate(weights, at + from, to - from, logSums[sumsAt + position]);
      Arrays.fill(weights, at, at + from, 0);
      Arrays.fill(weights, at + to, at + keys, 0);
    }
  }

  /** Sets the derivative of the soft cap {@code c tanh(s / c)}, 1 minus the square of tanh. */
  private void setSlopes(int from, int to) {
    if (slopes.length > 0) {
      for (int i = from; i < to; i++) {
        float tanh = weights[i] / rules.cap();
        slopes[i] = 1 - tanh * tanh;
      }
    }
  }

  /**
   * @param rowDots by position, the product of output and its gradient, which equals the sum of P *
   *     dP
   */
  void computeGradients(int headDim, float[] dOut, float[] rowDots) {
    multiply(dOut, vectors.values(), headDim, gradients);
    for (int row = 0; row < queries; row++) {
      float rowDot = rowDots[firstQuery + row];
      for (int i = row * SIZE; i < row * SIZE + keys; i++) {
        gradients[i] = weights[i] * (gradients[i] - rowDot) * rules.scale();
      }
      if (slopes.length > 0) {
        kernels
            .rows()
            .multiply(gradients, row * SIZE, slopes, row * SIZE, gradients, row * SIZE, keys);
      }
    }
  }

  private void multiply(float[] byQuery, float[] byKey, int headDim, float[] out) {
    kernels
        .floats()
        .products(
            RowBlock.of(byQuery, queryAt, queryStride, queries, headDim),
            RowBlock.of(byKey, keyAt, keyStride, keys, headDim),
            RowBlock.of(out, 0, SIZE, queries, keys));
  }

  void addQueryGradients(int headDim, float[] dQueries) {
    kernels
        .floats()
        .weightedSums(
            RowBlock.of(gradients, 0, SIZE, queries, keys),
            RowBlock.of(vectors.keys(), keyAt, keyStride, keys, headDim),
            RowBlock.of(dQueries, queryAt, queryStride, queries, headDim));
  }

  /**
   * @param range distances of the queries that count
   * @param dKeys rows with the stride of queries
   */
  void addKeyGradients(int headDim, DistanceRange range, float[] dKeys, int at) {
    addTransposed(gradients, vectors.queries(), headDim, range, dKeys, at);
  }

  /**
   * @param range distances of the queries that count
   * @param dValues rows with the stride of queries
   */
  void addValueGradients(int headDim, float[] dOut, DistanceRange range, float[] dValues, int at) {
    addTransposed(weights, dOut, headDim, range, dValues, at);
  }

  private void addTransposed(
      float[] tile, float[] byQuery, int headDim, DistanceRange range, float[] out, int outAt) {
    int least = Math.max(0, firstQuery - (firstKey + keys - 1)); // later keys have no weight
    int most = firstQuery + queries - 1 - firstKey;
    if (!range.overlaps(least, most)) {
      return;
    }
    transpose(tile);
    if (!range.containsAll(least, most)) {
      maskOutside(range);
    }
    kernels
        .floats()
        .weightedSums(
            RowBlock.of(transposed, 0, SIZE, keys, queries),
            RowBlock.of(byQuery, queryAt, queryStride, queries, headDim),
            RowBlock.of(out, outAt, queryStride, keys, headDim));
  }

  private void transpose(float[] tile) {
    for (int query = 0; query < queries; query++) {
      for (int key = 0; key < keys; key++) {
        transposed[key * SIZE + query] = tile[query * SIZE + key];
      }
    }
  }

  /** Zeroes entries at distances outside the range. */
  private void maskOutside(DistanceRange range) {
    for (int key = 0; key < keys; key++) {
      for (int query = 0; query < queries; query++) {
        if (!range.contains(firstQuery + query - (firstKey + key))) {
          transposed[key * SIZE + query] = 0;
        }
      }
    }
  }

  /**
   * Adds the weights that each key receives from all queries.
   *
   * @param sums by key, from {@code at} on
   */
  void addColumnSums(float[] sums, int at) {
    for (int query = 0; query < queries; query++) {
      kernels.rows().add(sums, at, weights, query * SIZE, keys);
    }
  }
}
