package dev.kvasir.attention;

import dev.kvasir.cache.BlockReaders;
import dev.kvasir.cache.DenseRows;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.SequenceObserver;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowKernels;
import java.util.Arrays;

/**
 * One worker's sums of the attention that queries give to residual tokens. Scores are computed a
 * second time, with the same arithmetic in every step, and normalized by the sums from attention.
 *
 * <p>A query's scores do not depend on other rows, and probabilities become integers per head.
 * Weights therefore have the same bits however a prompt is chunked.
 */
final class AttentionMass {
  /** Units per weight of 1: a weight counts in 2^-18. */
  private static final float UNITS = 1 << 18;

  private static final int PAGE = KvPass.PAGE;
  private static final int MAX_ROWS = PageReader.MAX_ROWS;

  private final AttentionShape shape;
  private final Kernels kernels;
  private final BlockReaders readers;
  private final int tokensTogether;
  private final float[] queries; // (MAX_ROWS, keyDim), scaled
  private final float[] scores; // (MAX_ROWS, PAGE)
  private final float[] logSums = new float[MAX_ROWS];
  private final int[][] weights; // (tokensTogether, tokens that a query sees)

  // The current queries: those of some tokens from a position on.
  private KvCache cache;
  private int layer;
  private int kvHead;
  private int position;
  private int tokens;
  private int heads; // of a token, scored together
  private int horizon; // maximum tokens that a query attends to, itself included
  private int firstResidual; // first token that any current query attends to

  AttentionMass(AttentionShape shape, Kernels kernels) {
    this.shape = shape;
    this.kernels = kernels;
    this.readers = new BlockReaders(kernels, shape.keyDim(), shape.valueDim());
    readers.beginPass(true);
    this.tokensTogether = Math.max(1, MAX_ROWS / shape.queriesPerKvHead());
    this.queries = new float[MAX_ROWS * shape.keyDim()];
    this.scores = new float[MAX_ROWS * PAGE];
    this.weights = new int[tokensTogether][PAGE];
  }

  /**
   * Reports the attention of consecutive queries of a KV head to a cache.
   *
   * @param window positions that a query sees, itself included
   * @param firstRow row of the query at {@code firstPosition}
   * @param source (rows, queryHeads, keyDim)
   * @param logSumsOfRows (rows, queryHeads), the logarithms of the softmax denominators
   */
  void report(
      KvCache attended,
      int atLayer,
      int head,
      int window,
      int firstRow,
      int count,
      int firstPosition,
      float[] source,
      float[] logSumsOfRows) {
    cache = attended;
    layer = atLayer;
    kvHead = head;
    SequenceObserver observer = attended.observer();
    horizon = Math.min(window, observer.attentionHorizon());
    int quantized = 0; // queries whose own tokens are
    while (quantized < count && isQuantized(firstPosition + quantized)) {
      quantized++;
    }
    for (int done = quantized; done < count; done += tokensTogether) {
      position = firstPosition + done;
      tokens = Math.min(tokensTogether, count - done);
      firstResidual = firstResidual();
      computeMass(firstRow + done, source, logSumsOfRows);
      for (int token = 0; token < tokens; token++) {
        observer.observeAttention(
            layer, kvHead, firstTarget(token), weights[token], targetCount(token));
      }
    }
    cache = null;
  }

  private boolean isQuantized(int at) {
    return cache.view(layer, cache.blockOf(at)).page() != null;
  }

  /** Returns the first token with no quantized one between it and the queries. */
  private int firstResidual() {
    int from = firstTarget(position, 0);
    int block = cache.blockOf(position);
    while (cache.firstPosition(block) > from && cache.view(layer, block - 1).page() == null) {
      block--;
    }
    return Math.max(from, cache.firstPosition(block));
  }

  private int firstTarget(int query, int min) {
    return Math.max(min, query - horizon + 1);
  }

  /** Returns the first position that a query attends to. */
  private int firstTarget(int token) {
    return firstTarget(position + token, firstResidual);
  }

  /** Returns the number of tokens that a query attends to. */
  private int targetCount(int token) {
    return position + token - firstTarget(token) + 1;
  }

  private void computeMass(int row, float[] source, float[] logSumsOfRows) {
    for (int token = 0; token < tokens; token++) {
      if (weights[token].length < targetCount(token)) {
        weights[token] = new int[Math.max(2 * weights[token].length, targetCount(token))];
      }
      Arrays.fill(weights[token], 0, targetCount(token), 0);
    }
    int group = shape.queriesPerKvHead();
    for (int queryHead = 0; queryHead < group; queryHead += MAX_ROWS) {
      heads = Math.min(MAX_ROWS, group - queryHead);
      for (int token = 0; token < tokens; token++) {
        loadQueries(
            token,
            (row + token) * shape.queryHeads() + kvHead * group + queryHead,
            source,
            logSumsOfRows);
      }
      addBlocks();
    }
  }

  private void loadQueries(int token, int queryHead, float[] source, float[] logSumsOfRows) {
    int length = heads * shape.keyDim();
    int to = token * length;
    System.arraycopy(source, queryHead * shape.keyDim(), queries, to, length);
    kernels.rows().scale(queries, to, length, (float) (1 / Math.sqrt(shape.keyDim())));
    System.arraycopy(logSumsOfRows, queryHead, logSums, token * heads, heads);
  }

  private void addBlocks() {
    int end = position + tokens;
    int last = cache.blockOf(end - 1);
    for (int block = cache.blockOf(firstResidual); block <= last; block++) {
      int blockBegin = cache.firstPosition(block);
      int from = Math.max(firstResidual, blockBegin);
      int to = Math.min(end, cache.firstPosition(block + 1));
      DenseRows dense = (DenseRows) cache.view(layer, block);
      int offset = from - blockBegin;
      dense.score(readers, kvHead, offset, to - from, queries, tokens * heads, scores);
      for (int row = 0; row < tokens * heads; row++) {
        add(row, from, to);
      }
    }
  }

  /** Adds a row's weights of the tokens that were scored, from one position to another. */
  private void add(int row, int scoredFrom, int scoredTo) {
    int token = row / heads;
    int from = Math.max(scoredFrom, firstTarget(token));
    int to = Math.min(scoredTo, position + token + 1);
    if (from >= to) {
      return;
    }
    int at = row * PAGE + from - scoredFrom;
    if (shape.softCap() > 0) {
      RowKernels.softCap(scores, at, to - from, shape.softCap());
    }
    kernels.rows().exponentiate(scores, at, to - from, logSums[row]);
    int[] sums = weights[token];
    int offset = from - firstTarget(token);
    for (int i = 0; i < to - from; i++) {
      sums[offset + i] += (int) (scores[at + i] * UNITS + 0.5f);
    }
  }
}
