package dev.kvasir.sampling;

import java.util.Map;

/**
 * Adds biases to the logits of some tokens. They are in arrays, since iterating over a map
 * allocates.
 */
final class LogitBias {
  private final int[] tokens;
  private final float[] biases; // (tokens)

  LogitBias(Map<Integer, Float> bias) {
    tokens = bias.keySet().stream().mapToInt(Integer::intValue).sorted().toArray();
    biases = new float[tokens.length];
    for (int i = 0; i < tokens.length; i++) {
      biases[i] = bias.get(tokens[i]);
    }
  }

  void apply(float[] logits, int at, int vocabulary) {
    for (int i = 0; i < tokens.length && tokens[i] < vocabulary; i++) {
      logits[at + tokens[i]] += biases[i];
    }
  }
}
