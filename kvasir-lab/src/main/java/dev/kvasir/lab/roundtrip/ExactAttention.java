package dev.kvasir.lab.roundtrip;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;

/** Reference causal attention in double precision over the original vectors. */
final class ExactAttention implements WorkerPool.ParallelTask {
  private final AttentionShape shape;
  private final HeadVectors keys;
  private final HeadVectors values;
  private final WorkerPool workers;
  private final float[][] vectors; // by worker: (headDim)
  private final double[][] weights; // by worker: (positions)
  private float[] queries;
  private int position;
  private double[] out;

  ExactAttention(AttentionShape shape, HeadVectors keys, HeadVectors values, WorkerPool workers) {
    this.shape = shape;
    this.keys = keys;
    this.values = values;
    this.workers = workers;
    this.vectors = new float[workers.size()][shape.headDim()];
    this.weights = new double[workers.size()][keys.tokens()];
  }

  /**
   * Attends to all positions up to the query's own.
   *
   * @param query (queryHeads, headDim)
   * @param output (queryHeads, headDim), set
   */
  void attend(float[] query, int atPosition, double[] output) {
    queries = query;
    position = atPosition;
    out = output;
    workers.run(this, shape.queryHeads());
  }

  @Override
  public void run(int queryHead, int worker) {
    int kvHead = queryHead / shape.queriesPerKvHead();
    int at = queryHead * shape.headDim();
    score(kvHead, at, vectors[worker], weights[worker]);
    normalize(weights[worker]);
    accumulate(kvHead, at, vectors[worker], weights[worker]);
  }

  private void score(int kvHead, int at, float[] key, double[] scores) {
    double scale = 1 / Math.sqrt(key.length);
    for (int t = 0; t <= position; t++) {
      keys.read(kvHead, t, 1, key, 0);
      double dot = 0;
      for (int i = 0; i < key.length; i++) {
        dot += (double) queries[at + i] * key[i];
      }
      scores[t] = dot * scale;
    }
  }

  /** Applies softmax in place. */
  private void normalize(double[] scores) {
    double most = Double.NEGATIVE_INFINITY;
    for (int t = 0; t <= position; t++) {
      most = Math.max(most, scores[t]);
    }
    double sum = 0;
    for (int t = 0; t <= position; t++) {
      scores[t] = Math.exp(scores[t] - most);
      sum += scores[t];
    }
    for (int t = 0; t <= position; t++) {
      scores[t] /= sum;
    }
  }

  private void accumulate(int kvHead, int at, float[] value, double[] shares) {
    Arrays.fill(out, at, at + value.length, 0);
    for (int t = 0; t <= position; t++) {
      values.read(kvHead, t, 1, value, 0);
      for (int i = 0; i < value.length; i++) {
        out[at + i] += shares[t] * value[i];
      }
    }
  }
}
