package dev.kvasir.lab.smooth;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.gradient.LayerVectors;
import dev.kvasir.lab.gradient.MaskedSoftmax;
import java.util.Arrays;
import java.util.stream.DoubleStream;

/**
 * Measures how attention outputs of some queries change when keys are quantized. As in the cache,
 * the sinks and the window before a query stay in full precision.
 */
final class AttentionProbe {
  private static final int ROWS = 64;
  private static final int KEYS = 64;

  private final LayerVectors vectors;
  private final AttentionShape shape;
  private final int layerWindow;
  private final SmoothingSettings settings;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final int tokens;
  private final int queries;
  private final int blocks;
  private final int step;
  private final int queryStride;
  private final int kvStride;
  private final float scale;
  private final float[][] scores; // by part: (ROWS, tokens), of unquantized keys
  private final float[][] outputs; // by part: (ROWS, headDim), of unquantized keys
  private final float[][] scratch; // by worker: (ROWS, tokens)
  private final float[][] found; // by worker: (ROWS, headDim)

  /**
   * @param layerWindow number of positions that a query of the layer sees, including its own
   */
  AttentionProbe(
      LayerVectors vectors,
      AttentionShape shape,
      int layerWindow,
      SmoothingSettings settings,
      Kernels kernels,
      WorkerPool workers) {
    this.vectors = vectors;
    this.shape = shape;
    this.layerWindow = layerWindow;
    this.settings = settings;
    this.kernels = kernels;
    this.workers = workers;
    this.tokens = vectors.tokens();
    this.queries = settings.queriesOf(tokens);
    this.blocks = Math.ceilDiv(queries, ROWS);
    this.step = settings.step(tokens);
    this.queryStride = shape.queryHeads() * shape.headDim();
    this.kvStride = shape.kvHeads() * shape.headDim();
    this.scale = (float) (1 / Math.sqrt(shape.headDim()));
    int parts = shape.queryHeads() * blocks;
    this.scores = new float[parts][ROWS * tokens];
    this.outputs = new float[parts][ROWS * shape.headDim()];
    this.scratch = new float[workers.size()][ROWS * tokens];
    this.found = new float[workers.size()][ROWS * shape.headDim()];
    workers.run(this::attendExactly, parts);
  }

  /** Returns the sum of squares of all outputs. */
  double outputSquares() {
    double sum = 0;
    for (float[] part : outputs) {
      for (float value : part) {
        sum += (double) value * value;
      }
    }
    return sum;
  }

  /**
   * Returns the sum of squared output errors with quantized keys.
   *
   * @param quantizedKeys (tokens, kvHeads, headDim)
   */
  double errorSquares(float[] quantizedKeys) {
    double[] errors = new double[outputs.length];
    workers.run((part, worker) -> errors[part] = error(part, worker, quantizedKeys), errors.length);
    return DoubleStream.of(errors).sum();
  }

  private int firstPosition(int part) {
    return settings.firstQuery() + part % blocks * ROWS * step;
  }

  private int rows(int part) {
    return Math.min(ROWS, queries - part % blocks * ROWS);
  }

  /** Returns the end of the positions that the last query of a part sees. */
  private int end(int part) {
    return firstPosition(part) + (rows(part) - 1) * step + 1;
  }

  private int firstVisible(int position) {
    return Math.max(0, position - layerWindow + 1);
  }

  private void attendExactly(int part, int worker) {
    int begin = firstVisible(firstPosition(part));
    score(part, vectors.keys(), begin, end(part), scores[part]);
    System.arraycopy(scores[part], 0, scratch[worker], 0, ROWS * tokens);
    attend(part, begin, scratch[worker], outputs[part]);
  }

  private double error(int part, int worker, float[] quantizedKeys) {
    int begin = firstVisible(firstPosition(part));
    int quantizedBegin = Math.max(begin, settings.sinks());
    score(part, quantizedKeys, quantizedBegin, end(part) - settings.window(), scratch[worker]);
    for (int row = 0; row < rows(part); row++) {
      int position = firstPosition(part) + row * step;
      int quantizedEnd = Math.max(quantizedBegin, position - settings.window() + 1);
      copyScores(part, row, begin, Math.min(quantizedBegin, position + 1), scratch[worker]);
      copyScores(part, row, Math.max(begin, quantizedEnd), position + 1, scratch[worker]);
    }
    attend(part, begin, scratch[worker], found[worker]);
    double sum = 0;
    for (int i = 0; i < rows(part) * shape.headDim(); i++) {
      double off = found[worker][i] - outputs[part][i];
      sum += off * off;
    }
    return sum;
  }

  private void copyScores(int part, int row, int from, int to, float[] target) {
    int at = row * tokens;
    System.arraycopy(scores[part], at + from, target, at + from, Math.max(0, to - from));
  }

  private void score(int part, float[] keys, int begin, int end, float[] out) {
    int head = part / blocks;
    int queryAt = firstPosition(part) * queryStride + head * shape.headDim();
    for (int key = begin; key < end; key += KEYS) {
      int count = Math.min(KEYS, end - key);
      kernels
          .floats()
          .products(
              RowBlock.of(
                  vectors.queries(), queryAt, step * queryStride, rows(part), shape.headDim()),
              RowBlock.of(keys, kvAt(head, key), kvStride, count, shape.headDim()),
              RowBlock.of(out, key, tokens, rows(part), count));
    }
  }

  private int kvAt(int queryHead, int token) {
    return token * kvStride + queryHead / shape.queriesPerKvHead() * shape.headDim();
  }

  private void attend(int part, int begin, float[] weights, float[] out) {
    int end = end(part);
    for (int row = 0; row < rows(part); row++) {
      int position = firstPosition(part) + row * step;
      int at = row * tokens;
      MaskedSoftmax.compute(
          kernels, weights, at, scale, begin, firstVisible(position), position + 1, end);
    }
    Arrays.fill(out, 0);
    for (int key = begin; key < end; key += KEYS) {
      int count = Math.min(KEYS, end - key);
      kernels
          .floats()
          .weightedSums(
              RowBlock.of(weights, key, tokens, rows(part), count),
              RowBlock.of(
                  vectors.values(), kvAt(part / blocks, key), kvStride, count, shape.headDim()),
              RowBlock.of(out, rows(part), shape.headDim()));
    }
  }
}
