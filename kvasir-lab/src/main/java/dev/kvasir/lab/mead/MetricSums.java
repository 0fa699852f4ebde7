package dev.kvasir.lab.mead;

import dev.kvasir.codec.mead.HeadProfile;

/**
 * Sums of outer products of gradients by layer, head and token rank: the diagonal for keys, the
 * full matrix for values.
 */
final class MetricSums {
  private static final int RANKS = HeadProfile.RANK_BUCKETS;

  private final int keyDim;
  private final int valueDim;
  private final double[][][][] keys; // layer, head, rank: (keyDim)
  private final double[][][][] values; // layer, head, rank: (valueDim, valueDim), upper triangle
  private final long[][][] tokens; // layer, head, rank
  private double lossTokens;

  MetricSums(int layers, int kvHeads, int keyDim, int valueDim) {
    this.keyDim = keyDim;
    this.valueDim = valueDim;
    this.keys = new double[layers][kvHeads][RANKS][keyDim];
    this.values = new double[layers][kvHeads][RANKS][valueDim * valueDim];
    this.tokens = new long[layers][kvHeads][RANKS];
  }

  int layers() {
    return keys.length;
  }

  int kvHeads() {
    return keys[0].length;
  }

  /**
   * @param gradients gradients of a key and of a value
   */
  void add(int layer, int head, int rank, float[] gradients, int keyAt, int valueAt) {
    double[] ofKeys = keys[layer][head][rank];
    for (int i = 0; i < keyDim; i++) {
      double g = gradients[keyAt + i];
      ofKeys[i] += g * g;
    }
    double[] ofValues = values[layer][head][rank];
    for (int i = 0; i < valueDim; i++) {
      double g = gradients[valueAt + i];
      int row = i * valueDim;
      for (int j = i; j < valueDim; j++) {
        ofValues[row + j] += g * gradients[valueAt + j];
      }
    }
    tokens[layer][head][rank]++;
  }

  /** Returns whether no token contributes to the loss of any text. */
  boolean isEmpty() {
    return lossTokens == 0;
  }

  /** Adds the number of tokens that contribute to the loss of a text. */
  void addLossTokens(int tokensOfLoss) {
    lossTokens += tokensOfLoss;
  }

  /** Returns the sums divided by the number of loss tokens. */
  double[] keys(int layer, int head, int rank) {
    return divided(keys[layer][head][rank]);
  }

  /** Returns the full (valueDim, valueDim) sums divided by the number of loss tokens. */
  double[] values(int layer, int head, int rank) {
    double[] all = divided(values[layer][head][rank]);
    for (int i = 0; i < valueDim; i++) {
      for (int j = 0; j < i; j++) {
        all[i * valueDim + j] = all[j * valueDim + i];
      }
    }
    return all;
  }

  private double[] divided(double[] sums) {
    double[] means = sums.clone();
    for (int i = 0; i < means.length; i++) {
      means[i] /= Math.max(1, lossTokens);
    }
    return means;
  }

  /** Returns all numbers for a file. */
  float[] floats() {
    int each = RANKS * (keyDim + valueDim * valueDim + 1);
    float[] all = new float[layers() * kvHeads() * each + 1];
    int at = 0;
    for (int layer = 0; layer < layers(); layer++) {
      for (int head = 0; head < kvHeads(); head++) {
        for (int rank = 0; rank < RANKS; rank++) {
          for (double x : keys[layer][head][rank]) {
            all[at++] = (float) x;
          }
          for (double x : values[layer][head][rank]) {
            all[at++] = (float) x;
          }
          all[at++] = tokens[layer][head][rank];
        }
      }
    }
    all[at] = (float) lossTokens;
    return all;
  }

  /** Adds the result of {@link #floats}. */
  void add(float[] all) {
    int at = 0;
    for (int layer = 0; layer < layers(); layer++) {
      for (int head = 0; head < kvHeads(); head++) {
        for (int rank = 0; rank < RANKS; rank++) {
          for (int i = 0; i < keyDim; i++) {
            keys[layer][head][rank][i] += all[at++];
          }
          for (int i = 0; i < valueDim * valueDim; i++) {
            values[layer][head][rank][i] += all[at++];
          }
          tokens[layer][head][rank] += (long) all[at++];
        }
      }
    }
    lossTokens += all[at];
  }
}
