package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import java.util.Arrays;

/**
 * Assigns the tokens of a page to tiers by residual energy, weighted by the importance of their
 * attention rank.
 */
public final class TierAssigner {
  /** Number of tiers; the last gets the most bits. */
  public static final int TIERS = SaliencyTier.COUNT;

  private static final int TOKENS = Page.TOKENS;

  private final float[] importance; // (keys and values, rank buckets)
  private final TokenRanks ranks = new TokenRanks();
  private final double[] scores = new double[TOKENS];

  /**
   * @param importance (keys and values, rank buckets)
   */
  public TierAssigner(float[] importance) {
    this.importance = importance;
  }

  /**
   * @param keyEnergies squared norms of the key residuals, by token
   * @param valueEnergies squared norms of the value residuals, by token
   * @param rankBuckets attention rank bucket of each token; negative for an unquantized token
   * @return the tier of each token
   */
  public int[] tiers(double[] keyEnergies, double[] valueEnergies, int[] rankBuckets) {
    byte[] order = new byte[TOKENS];
    order(keyEnergies, valueEnergies, rankBuckets, order);
    int[] tiers = new int[TOKENS];
    for (SaliencyTier tokens : SaliencyTier.values()) {
      for (int row = tokens.firstRow(); row < tokens.firstRow() + tokens.tokens(); row++) {
        tiers[order[row]] = tokens.ordinal();
      }
    }
    return tiers;
  }

  /**
   * @param order set to the token of each row: tier after tier, each in token order
   */
  void order(double[] keyEnergies, double[] valueEnergies, int[] rankBuckets, byte[] order) {
    for (int token = 0; token < TOKENS; token++) {
      int bucket = rankBuckets[token];
      scores[token] =
          bucket < 0
              ? 0
              : importance[bucket] * keyEnergies[token]
                  + importance[HeadProfile.RANK_BUCKETS + bucket] * valueEnergies[token];
    }
    byte[] ranked = ranks.descending(scores);
    for (int row = 0; row < TOKENS; row++) {
      order[row] = ranked[TOKENS - 1 - row];
    }
    for (SaliencyTier tokens : SaliencyTier.values()) {
      Arrays.sort(order, tokens.firstRow(), tokens.firstRow() + tokens.tokens());
    }
  }
}
