package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import java.util.Arrays;

/**
 * Assigns the tokens of a page to saliency tiers, for one head. Also sets how much each token
 * weighs in the mean error of components: by the attention it received, as an estimate of its
 * future weight.
 */
final class HeadTierAssigner {
  private static final int TOKENS = Page.TOKENS;

  /** Attention and rank of an unquantized token. */
  private static final int NONE = -1;

  private final MeadSizes sizes;
  private final SaliencyMetric metric;
  private final TokenRanks ranks = new TokenRanks();
  private final double[] attention = new double[TOKENS];
  private final double[] keyEnergies = new double[TOKENS];
  private final double[] valueEnergies = new double[TOKENS];
  private final int[] rankBuckets = new int[TOKENS];
  private final float[] uniformImportance = new float[KvSide.COUNT * HeadProfile.RANK_BUCKETS];
  private final float[] ones;

  HeadTierAssigner(MeadSizes sizes, SaliencyMetric classing) {
    this.sizes = sizes;
    this.metric = classing;
    this.ones = new float[sizes.valueWidth()];
    Arrays.fill(uniformImportance, 1);
    Arrays.fill(ones, 1);
  }

  /**
   * @param tokens prediction residuals; their order and shares are set
   * @param received attention received by each token
   * @param isExact whether a token stays unquantized; its code then counts for nothing
   */
  void assign(HeadTables head, HeadEncodingScratch tokens, int[] received, boolean[] isExact) {
    for (int token = 0; token < TOKENS; token++) {
      attention[token] = isExact[token] ? NONE : received[token];
    }
    byte[] ranked = ranks.descending(attention);
    for (int rank = 0; rank < TOKENS; rank++) {
      int token = ranked[rank];
      rankBuckets[token] = isExact[token] ? NONE : rank * HeadProfile.RANK_BUCKETS / TOKENS;
    }
    for (int token = 0; token < TOKENS; token++) {
      keyEnergies[token] = energy(tokens.keys, token, sizes.keyWidth(), head.keyWeights());
      valueEnergies[token] = energy(tokens.components, token, sizes.valueWidth(), ones);
    }
    float[] importance = metric == SaliencyMetric.ATTENTION ? head.importance() : uniformImportance;
    new TierAssigner(importance).order(keyEnergies, valueEnergies, rankBuckets, tokens.order);
    setShares(received, isExact, tokens.shares);
  }

  private static double energy(float[] x, int token, int width, float[] weights) {
    double sum = 0;
    for (int i = 0; i < width; i++) {
      double weighted = (double) x[token * width + i] * weights[i];
      sum += weighted * weighted;
    }
    return sum;
  }

  private static void setShares(int[] received, boolean[] isExact, double[] shares) {
    double total = 0;
    for (int token = 0; token < TOKENS; token++) {
      total += isExact[token] ? 0 : received[token];
    }
    if (total == 0) {
      setUniformShares(isExact, shares);
      return;
    }
    for (int token = 0; token < TOKENS; token++) {
      shares[token] = isExact[token] ? 0 : received[token] / total;
    }
  }

  /** Gives all quantized tokens the same share, for when received attention is unknown. */
  static void setUniformShares(boolean[] isExact, double[] shares) {
    int quantized = TOKENS;
    for (boolean exact : isExact) {
      quantized -= exact ? 1 : 0;
    }
    for (int token = 0; token < TOKENS; token++) {
      shares[token] = isExact[token] ? 0 : 1.0 / quantized;
    }
  }
}
