package dev.kvasir.lab.mead;

import dev.kvasir.lab.gradient.TracedDecoder;

/**
 * Context-free features of tokens: normalized embeddings, context-free keys and values of a layer,
 * and a constant.
 *
 * @param numbers (tokens, count), each scaled to a standard deviation of 1
 */
record TokenFeatures(float[] numbers, int count) {
  private static final double MIN_DEVIATION = 1e-6;

  /**
   * @param contextFree (tokens, width)
   */
  static TokenFeatures of(TracedDecoder decoder, int[] ids, float[] contextFree, int width) {
    int hidden = decoder.config().hidden();
    int count = hidden + width + 1;
    float[] embeddings = decoder.embeddings(ids);
    float[] numbers = new float[ids.length * count];
    for (int token = 0; token < ids.length; token++) {
      double squares = 0;
      for (int i = 0; i < hidden; i++) {
        squares += embeddings[token * hidden + i] * (double) embeddings[token * hidden + i];
      }
      double length = Math.sqrt(squares / hidden + decoder.config().normEpsilon());
      int at = token * count;
      for (int i = 0; i < hidden; i++) {
        numbers[at + i] = (float) (embeddings[token * hidden + i] / length);
      }
      System.arraycopy(contextFree, token * width, numbers, at + hidden, width);
      numbers[at + count - 1] = 1;
    }
    for (int i = 0; i < count - 1; i++) {
      scale(numbers, count, i, ids.length);
    }
    return new TokenFeatures(numbers, count);
  }

  private static void scale(float[] numbers, int count, int feature, int tokens) {
    double sum = 0;
    double squares = 0;
    for (int token = 0; token < tokens; token++) {
      double x = numbers[token * count + feature];
      sum += x;
      squares += x * x;
    }
    double mean = sum / tokens;
    double deviation = Math.sqrt(Math.max(0, squares / tokens - mean * mean));
    float factor = (float) (1 / Math.max(deviation, MIN_DEVIATION));
    for (int token = 0; token < tokens; token++) {
      numbers[token * count + feature] *= factor;
    }
  }
}
