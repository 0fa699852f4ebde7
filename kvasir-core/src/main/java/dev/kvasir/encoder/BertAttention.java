package dev.kvasir.encoder;

import dev.kvasir.kernel.MatrixProducts;
import dev.kvasir.kernel.WorkerPool;

/** Attention of all tokens of each text to each other, with its workspace. */
final class BertAttention {
  private final int heads;
  private final int size;
  private final int hidden;
  private final TextRows texts;
  private final RotaryPositions rotary; // null with position embeddings
  private final float[] queries; // (tokens, hidden)
  private final float[] keys; // (tokens, hidden)
  private final float[] values; // (tokens, hidden)
  private final float[] out; // (tokens, hidden)

  BertAttention(BertConfig config, TextRows texts, RotaryPositions rotary) {
    this.heads = config.heads();
    this.size = config.headSize();
    this.hidden = config.hidden();
    this.texts = texts;
    this.rotary = rotary;
    int floats = Math.multiplyExact(texts.count(), hidden);
    this.queries = new float[floats];
    this.keys = new float[floats];
    this.values = new float[floats];
    this.out = new float[floats];
  }

  float[] out() {
    return out;
  }

  /** Computes the outputs of all heads, next to each other. */
  void run(BertWeights.Layer layer, float[] x, MatrixProducts products, WorkerPool workers) {
    int count = texts.count();
    products.begin(x, count, hidden);
    products.add(layer.query().matrix(), queries);
    products.add(layer.key().matrix(), keys);
    products.add(layer.value().matrix(), values);
    products.run();
    BertEncoder.addBias(layer.query(), count, queries);
    BertEncoder.addBias(layer.key(), count, keys);
    BertEncoder.addBias(layer.value(), count, values);
    if (rotary != null) {
      workers.run((row, worker) -> rotate(row), count);
    }
    workers.run((row, worker) -> attend(row), count);
  }

  private void rotate(int row) {
    int position = row - texts.begin(row);
    for (int head = 0; head < heads; head++) {
      rotary.rotate(queries, row * hidden + head * size, position);
      rotary.rotate(keys, row * hidden + head * size, position);
    }
  }

  /** Attends with one token in all heads. */
  private void attend(int row) {
    int begin = texts.begin(row);
    int end = texts.end(row);
    float[] scores = new float[end - begin];
    float scale = (float) (1 / Math.sqrt(size));
    for (int head = 0; head < heads; head++) {
      int at = row * hidden + head * size;
      float most = Float.NEGATIVE_INFINITY;
      for (int other = begin; other < end; other++) {
        float score = scale * dot(at, other * hidden + head * size);
        scores[other - begin] = score;
        most = Math.max(most, score);
      }
      double sum = 0;
      for (int i = 0; i < scores.length; i++) {
        scores[i] = (float) Math.exp(scores[i] - most);
        sum += scores[i];
      }
      accumulate(scores, (float) (1 / sum), at, begin * hidden + head * size);
    }
  }

  private float dot(int query, int key) {
    float sum = 0;
    for (int i = 0; i < size; i++) {
      sum += queries[query + i] * keys[key + i];
    }
    return sum;
  }

  private void accumulate(float[] scores, float inverse, int at, int firstValue) {
    for (int i = at; i < at + size; i++) {
      out[i] = 0;
    }
    for (int other = 0; other < scores.length; other++) {
      float probability = scores[other] * inverse;
      int from = firstValue + other * hidden;
      for (int i = 0; i < size; i++) {
        out[at + i] += probability * values[from + i];
      }
    }
  }
}
