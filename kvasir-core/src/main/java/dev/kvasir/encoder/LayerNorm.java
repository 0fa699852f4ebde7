package dev.kvasir.encoder;

/** {@code (x - mean) / sqrt(variance + epsilon) * weight + bias} over a row. */
final class LayerNorm {
  private LayerNorm() {}

  static void apply(float[] x, int at, int count, BertWeights.Norm norm, float epsilon) {
    double sum = 0;
    for (int i = at; i < at + count; i++) {
      sum += x[i];
    }
    double mean = sum / count;
    double squares = 0;
    for (int i = at; i < at + count; i++) {
      double difference = x[i] - mean;
      squares += difference * difference;
    }
    double inverse = 1 / Math.sqrt(squares / count + epsilon);
    for (int i = 0; i < count; i++) {
      x[at + i] = (float) ((x[at + i] - mean) * inverse) * norm.weight()[i] + norm.bias()[i];
    }
  }
}
