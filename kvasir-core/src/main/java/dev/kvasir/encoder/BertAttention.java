package dev.kvasir.encoder;

import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;

/** Attention of all tokens of a text to each other, with its workspace. */
final class BertAttention {
  private final int heads;
  private final int size;
  private final int hidden;
  private final int count;
  private final float[] queries; // (tokens, hidden)
  private final float[] keys; // (tokens, hidden)
  private final float[] values; // (tokens, hidden)
  private final float[] out; // (tokens, hidden)

  BertAttention(BertConfig config, int count) {
    this.heads = config.heads();
    this.size = config.headSize();
    this.hidden = config.hidden();
    this.count = count;
    this.queries = new float[count * hidden];
    this.keys = new float[count * hidden];
    this.values = new float[count * hidden];
    this.out = new float[count * hidden];
  }

  float[] out() {
    return out;
  }

  /** Computes the outputs of all heads, next to each other. */
  void run(BertWeights.Layer layer, float[] x, MatrixProducts products, WorkerPool workers) {
    products.begin(x, count, hidden);
    products.add(layer.query().matrix(), queries);
    products.add(layer.key().matrix(), keys);
    products.add(layer.value().matrix(), values);
    products.run();
    BertEncoder.addBias(layer.query(), count, queries);
    BertEncoder.addBias(layer.key(), count, keys);
    BertEncoder.addBias(layer.value(), count, values);
    workers.run((row, worker) -> attend(row), count);
  }

  /** Attends with one token in all heads. */
  private void attend(int row) {
    float[] scores = new float[count];
    float scale = (float) (1 / Math.sqrt(size));
    for (int head = 0; head < heads; head++) {
      int at = row * hidden + head * size;
      float most = Float.NEGATIVE_INFINITY;
      for (int other = 0; other < count; other++) {
        scores[other] = scale * dot(at, other * hidden + head * size);
        most = Math.max(most, scores[other]);
      }
      double sum = 0;
      for (int other = 0; other < count; other++) {
        scores[other] = (float) Math.exp(scores[other] - most);
        sum += scores[other];
      }
      accumulate(scores, (float) (1 / sum), at, head);
    }
  }

  private float dot(int query, int key) {
    float sum = 0;
    for (int i = 0; i < size; i++) {
      sum += queries[query + i] * keys[key + i];
    }
    return sum;
  }

  private void accumulate(float[] scores, float inverse, int at, int head) {
    for (int i = at; i < at + size; i++) {
      out[i] = 0;
    }
    for (int other = 0; other < count; other++) {
      float probability = scores[other] * inverse;
      int from = other * hidden + head * size;
      for (int i = 0; i < size; i++) {
        out[at + i] += probability * values[from + i];
      }
    }
  }
}
