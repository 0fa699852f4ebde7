package dev.kvasir.lab.gradient;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;
import java.util.List;

/**
 * Causal attention over all tokens of a text, with its backward pass. The (tokens, tokens) weights
 * are never stored: the log-sum-exp of each query is enough to recompute a tile (Dao et al.,
 * FlashAttention, 2022).
 */
final class TextAttention {
  private static final int TILE = AttentionTile.SIZE;

  private final AttentionShape shape;
  private final int tokens;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final int queryStride;
  private final int kvStride;
  private final float[] logSums; // (queryHeads, tokens)
  private final float[][] scores; // by worker: (TILE, tokens)
  private float[][] gradientsByHead = {}; // by range: keys and values (tokens, queryHeads, headDim)

  TextAttention(AttentionShape shape, int tokens, Kernels kernels, WorkerPool workers) {
    this.shape = shape;
    this.tokens = tokens;
    this.kernels = kernels;
    this.workers = workers;
    this.queryStride = shape.queryHeads() * shape.headDim();
    this.kvStride = shape.kvHeads() * shape.headDim();
    this.logSums = new float[shape.queryHeads() * tokens];
    this.scores = new float[workers.size()][TILE * tokens];
  }

  /** Returns the rules of a layer. */
  ScoreRules rules(int window, float[] sinks) {
    return new ScoreRules((float) (1 / Math.sqrt(shape.headDim())), shape.softCap(), window, sinks);
  }

  /**
   * @param out (tokens, queryHeads, headDim), set
   */
  void forward(LayerVectors vectors, ScoreRules rules, float[] out) {
    int blocks = Math.ceilDiv(tokens, TILE);
    Arrays.fill(out, 0);
    workers.run(
        (part, worker) ->
            attend(vectors, rules, part / blocks, part % blocks * TILE, scores[worker], out),
        blocks * shape.queryHeads());
  }

  private void attend(
      LayerVectors vectors, ScoreRules rules, int head, int first, float[] weights, float[] out) {
    int rows = Math.min(TILE, tokens - first);
    int begin = Math.max(0, first - rules.window() + 1);
    int end = first + rows;
    int query = first * queryStride + head * shape.headDim();
    for (int key = begin; key < end; key += TILE) {
      int keys = Math.min(TILE, end - key);
      kernels
          .floats()
          .products(
              RowBlock.of(vectors.queries(), query, queryStride, rows, shape.headDim()),
              RowBlock.of(vectors.keys(), kvAt(head, key), kvStride, keys, shape.headDim()),
              RowBlock.of(weights, key, tokens, rows, keys));
    }
    for (int row = 0; row < rows; row++) {
      int position = first + row;
      int firstVisible = Math.max(0, position - rules.window() + 1);
      int at = row * tokens;
      rules.score(kernels, weights, at + firstVisible, position + 1 - firstVisible);
      logSums[head * tokens + position] =
          MaskedSoftmax.withSink(
              kernels, weights, at, rules.sink(head), begin, firstVisible, position + 1, end);
    }
    for (int key = begin; key < end; key += TILE) {
      int keys = Math.min(TILE, end - key);
      kernels
          .floats()
          .weightedSums(
              RowBlock.of(weights, key, tokens, rows, keys),
              RowBlock.of(vectors.values(), kvAt(head, key), kvStride, keys, shape.headDim()),
              RowBlock.of(out, query, queryStride, rows, shape.headDim()));
    }
  }

  private int kvAt(int queryHead, int token) {
    return token * kvStride + queryHead / shape.queriesPerKvHead() * shape.headDim();
  }

  /**
   * Computes the backward pass of the last {@link #forward}, with its vectors and output. All
   * gradients are set.
   *
   * @param dOut gradients of the output
   * @param dQueries gradients of queries through all keys
   * @param byRange gradients of keys and values; the same number and lengths for every call
   */
  void backward(
      LayerVectors vectors,
      ScoreRules rules,
      float[] out,
      float[] dOut,
      float[] dQueries,
      List<RangeGradients> byRange) {
    if (gradientsByHead.length == 0) {
      gradientsByHead = new float[byRange.size()][2 * tokens * queryStride];
    }
    for (float[] ofReach : gradientsByHead) {
      Arrays.fill(ofReach, 0);
    }
    Arrays.fill(dQueries, 0);
    workers.run(
        (head, worker) -> {
          float[] rowDots = rowDots(head, out, dOut);
          AttentionTile tile = new AttentionTile(kernels, vectors, rules);
          backward(tile, head, rules.window(), rowDots, dOut, dQueries, byRange);
        },
        shape.queryHeads());
    for (int i = 0; i < byRange.size(); i++) {
      sumGroups(gradientsByHead[i], 0, byRange.get(i).keys());
      sumGroups(gradientsByHead[i], tokens * queryStride, byRange.get(i).values());
    }
  }

  /**
   * Returns the product of output and gradient by token, which softmax subtracts from the gradients
   * of scores.
   */
  private float[] rowDots(int head, float[] out, float[] dOut) {
    float[] rowDots = new float[tokens];
    for (int t = 0; t < tokens; t++) {
      int at = t * queryStride + head * shape.headDim();
      double sum = 0;
      for (int i = at; i < at + shape.headDim(); i++) {
        sum += (double) out[i] * dOut[i];
      }
      rowDots[t] = (float) sum;
    }
    return rowDots;
  }

  private void backward(
      AttentionTile tile,
      int head,
      int window,
      float[] rowDots,
      float[] dOut,
      float[] dQueries,
      List<RangeGradients> byRange) {
    int headAt = head * shape.headDim();
    for (int key = 0; key < tokens; key += TILE) {
      int lastKey = Math.min(tokens, key + TILE) - 1;
      for (int query = key; query < tokens && query - window < lastKey; query += TILE) {
        place(tile, head, query, key);
        tile.computeWeights(shape.headDim(), window, logSums, head * tokens);
        tile.computeGradients(shape.headDim(), dOut, rowDots);
        int keyAt = key * queryStride + headAt;
        tile.addQueryGradients(shape.headDim(), dQueries);
        for (int i = 0; i < byRange.size(); i++) {
          DistanceRange range = byRange.get(i).range();
          tile.addKeyGradients(shape.headDim(), range, gradientsByHead[i], keyAt);
          int valueAt = tokens * queryStride + keyAt;
          tile.addValueGradients(shape.headDim(), dOut, range, gradientsByHead[i], valueAt);
        }
      }
    }
  }

  private void place(AttentionTile tile, int head, int query, int key) {
    tile.place(
        query,
        Math.min(TILE, tokens - query),
        query * queryStride + head * shape.headDim(),
        queryStride,
        key,
        Math.min(TILE, tokens - key),
        kvAt(head, key),
        kvStride);
  }

  /** Sums query heads that share a KV head, always in the same order. */
  private void sumGroups(float[] byHead, int from, float[] to) {
    int group = shape.queriesPerKvHead();
    int headDim = shape.headDim();
    workers.run(
        (token, worker) -> {
          Arrays.fill(to, token * kvStride, (token + 1) * kvStride, 0);
          for (int head = 0; head < shape.queryHeads(); head++) {
            int target = token * kvStride + head / group * headDim;
            int source = from + token * queryStride + head * headDim;
            kernels.rows().add(to, target, byHead, source, headDim);
          }
        },
        tokens);
  }

  /**
   * Returns the attention that tokens receive in the last {@link #forward}, with its vectors and
   * rules.
   *
   * @param near number of queries that count, starting at the token's own position
   * @return (tokens, kvHeads), summed over the query heads that share a KV head
   */
  float[] attentionMass(LayerVectors vectors, ScoreRules rules, int near) {
    float[] byHead = new float[shape.queryHeads() * tokens];
    workers.run(
        (head, worker) -> {
          AttentionTile tile = new AttentionTile(kernels, vectors, rules);
          addAttentionMass(tile, head, Math.min(rules.window(), near), byHead);
        },
        shape.queryHeads());
    float[] mass = new float[tokens * shape.kvHeads()];
    for (int i = 0; i < byHead.length; i++) {
      int kvHead = i / tokens / shape.queriesPerKvHead();
      mass[i % tokens * shape.kvHeads() + kvHead] += byHead[i];
    }
    return mass;
  }

  private void addAttentionMass(AttentionTile tile, int head, int window, float[] byHead) {
    for (int key = 0; key < tokens; key += TILE) {
      int lastKey = Math.min(tokens, key + TILE) - 1;
      for (int query = key; query < tokens && query - window < lastKey; query += TILE) {
        place(tile, head, query, key);
        tile.computeWeights(shape.headDim(), window, logSums, head * tokens);
        tile.addColumnSums(byHead, head * tokens + key);
      }
    }
  }
}
