package dev.kvasir.runtime;

import dev.kvasir.Embedder.Embedding;
import dev.kvasir.Embedder.Pooling;

/** Combines the vectors of tokens, which come in order, to one of length one. */
final class Pooler {
  private final Pooling pooling;
  private final double[] sum;
  private int rows;

  Pooler(Pooling pooling, int dimensions) {
    this.pooling = pooling;
    this.sum = new double[dimensions];
  }

  /** Returns whether the vector of a token matters. */
  boolean needs(int token, int tokens) {
    return switch (pooling) {
      case MEAN -> true;
      case FIRST -> token == 0;
      case LAST -> token == tokens - 1;
    };
  }

  /** Adds a vector that matters. */
  void add(float[] vectors, int at) {
    for (int i = 0; i < sum.length; i++) {
      sum[i] += vectors[at + i];
    }
    rows++;
  }

  Embedding embedding(int tokens) {
    double squares = 0;
    for (double value : sum) {
      squares += value * value;
    }
    // The length does not matter, so the mean needs no division. Zeros have no direction.
    double scale = squares == 0 || rows == 0 ? 0 : 1 / Math.sqrt(squares);
    float[] vector = new float[sum.length];
    for (int i = 0; i < vector.length; i++) {
      vector[i] = (float) (sum[i] * scale);
    }
    return new Embedding(vector, tokens);
  }
}
