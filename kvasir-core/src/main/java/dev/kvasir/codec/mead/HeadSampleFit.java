package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import java.util.Arrays;

/**
 * Measures one KV head on a page. Without gradients, a key's error counts by how much it changes
 * attention logits, and a value's error relative to the variance of values.
 *
 * <pre>
 * variance of a logit by an error e of channel c:  mean q_c^2 * e^2 / keyDim
 * </pre>
 */
final class HeadSampleFit {
  private static final int TOKENS = Page.TOKENS;

  /** Part of the mean query that every channel has, so that no channel is dropped altogether. */
  private static final double QUERY_FLOOR = 0.03;

  /** Least deviation, relative to the root mean square of all channels. */
  private static final double MIN_DEVIATION = 1e-3;

  /** For channels that are all constant. */
  private static final double TINY = 1e-12;

  private final int keyDim;
  private final int valueDim;
  private final TierAssigner tiers;

  HeadSampleFit(MeadSizes sizes) {
    this.keyDim = sizes.keyDim();
    this.valueDim = sizes.valueDim();
    float[] uniform = new float[KvSide.COUNT * HeadProfile.RANK_BUCKETS];
    Arrays.fill(uniform, 1);
    this.tiers = new TierAssigner(uniform);
  }

  /**
   * @param keys (TOKENS, keyDim), before RoPE, in pair order
   * @param values (TOKENS, valueDim)
   * @param queryPower (keyDim), mean square of the queries by channel
   */
  HeadStatistics fit(float[] keys, float[] values, double[] queryPower) {
    double[] keyMeans = means(keys, keyDim);
    double[] valueMeans = means(values, valueDim);
    double[] keyVariances = variances(keys, keyMeans);
    double[] valueVariances = variances(values, valueMeans);
    double valueVariance = sum(valueVariances);
    double[] weights = keyWeights(queryPower, valueVariance);
    double[] keyEnergies = energies(keys, keyMeans, weights);
    double[] valueEnergies = energies(values, valueMeans, null);
    return new HeadStatistics(
        joined(keyMeans, valueMeans),
        joined(roots(keyVariances), roots(valueVariances)),
        floats(roots(weights)),
        tierRatios(keyEnergies, valueEnergies));
  }

  private static double[] means(float[] x, int dim) {
    double[] means = new double[dim];
    for (int i = 0; i < x.length; i++) {
      means[i % dim] += x[i];
    }
    Arrays.setAll(means, i -> means[i] / TOKENS);
    return means;
  }

  private static double[] variances(float[] x, double[] means) {
    int dim = means.length;
    double[] variances = new double[dim];
    for (int i = 0; i < x.length; i++) {
      double apart = x[i] - means[i % dim];
      variances[i % dim] += apart * apart / TOKENS;
    }
    double least = sum(variances) / dim * MIN_DEVIATION * MIN_DEVIATION + TINY;
    Arrays.setAll(variances, i -> Math.max(variances[i], least));
    return variances;
  }

  /** Returns the squared weights of key channels. */
  private double[] keyWeights(double[] queryPower, double valueVariance) {
    double floor = QUERY_FLOOR * sum(queryPower) / keyDim;
    double[] weights = new double[keyDim];
    Arrays.setAll(weights, i -> (queryPower[i] + floor) / keyDim * valueVariance + TINY);
    return weights;
  }

  /**
   * @param weights by channel; null for equal weights
   */
  private static double[] energies(float[] x, double[] means, double[] weights) {
    int dim = means.length;
    double[] energies = new double[TOKENS];
    for (int i = 0; i < x.length; i++) {
      double apart = x[i] - means[i % dim];
      energies[i / dim] += apart * apart * (weights == null ? 1 : weights[i % dim]);
    }
    return energies;
  }

  private float[] tierRatios(double[] keyEnergies, double[] valueEnergies) {
    int[] tierOf = tiers.tiers(keyEnergies, valueEnergies, new int[TOKENS]);
    double keyMean = sum(keyEnergies) / TOKENS + TINY;
    double valueMean = sum(valueEnergies) / TOKENS + TINY;
    double[] squares = new double[SaliencyTier.COUNT * KvSide.COUNT];
    for (int token = 0; token < TOKENS; token++) {
      int at = tierOf[token] * KvSide.COUNT;
      squares[at] += keyEnergies[token] / keyMean;
      squares[at + 1] += valueEnergies[token] / valueMean;
    }
    for (SaliencyTier tier : SaliencyTier.values()) {
      for (KvSide side : KvSide.values()) {
        int at = tier.ordinal() * KvSide.COUNT + side.ordinal();
        squares[at] = squares[at] / tier.tokens() + MIN_DEVIATION * MIN_DEVIATION;
      }
    }
    return floats(roots(squares));
  }

  private static double sum(double[] x) {
    double sum = 0;
    for (double each : x) {
      sum += each;
    }
    return sum;
  }

  private static double[] roots(double[] squares) {
    return Arrays.stream(squares).map(Math::sqrt).toArray();
  }

  private static float[] joined(double[] a, double[] b) {
    double[] joined = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, joined, a.length, b.length);
    return floats(joined);
  }

  private static float[] floats(double[] x) {
    float[] floats = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      floats[i] = (float) x[i];
    }
    return floats;
  }
}
