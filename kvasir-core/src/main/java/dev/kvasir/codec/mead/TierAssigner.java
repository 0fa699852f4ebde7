package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import java.util.Arrays;

/**
 * Puts the tokens of a page in classes, by what would be lost of each without any code, weighed by
 * how much it is looked at.
 */
public final class TierAssigner {
  /** How many classes there are; the last is given most. */
  public static final int TIERS = SaliencyTier.COUNT;

  private static final int TOKENS = Page.TOKENS;

  private final float[] importance; // (keys and values, ranks)
  private final TokenRanks ranks = new TokenRanks();
  private final double[] scores = new double[TOKENS];

  /**
   * @param importance (keys and values, ranks)
   */
  public TierAssigner(float[] importance) {
    this.importance = importance;
  }

  /**
   * @param keyEnergies squared lengths of what is to be coded, by token
   * @param valueEnergies the same of values
   * @param parts which eighth of the page each is in by received attention; below zero for a token
   *     that is not coded
   * @return the class of each token
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
   * @param order set to tokens by rows: those of each class in their order, class after class
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
