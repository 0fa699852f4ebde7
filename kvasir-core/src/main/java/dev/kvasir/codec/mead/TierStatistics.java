package dev.kvasir.codec.mead;

/**
 * What calibration learned about the tokens of each saliency tier, for one KV head.
 *
 * @param deviations (tiers, keyDim and valueDim) of prediction residuals: keys times their weights,
 *     and components
 * @param weights (tiers, keys and values), how much an error of such a token counts
 */
public record TierStatistics(float[] deviations, float[] weights) {
  /**
   * Returns statistics whose weights differ more: each weight's ratio to the mean over tokens is
   * raised to a power.
   */
  public TierStatistics withContrast(double power) {
    float[] raised = weights.clone();
    for (KvSide side : KvSide.values()) {
      double mean = 0;
      for (SaliencyTier tier : SaliencyTier.values()) {
        mean += tier.fraction() * weights[at(tier, side)];
      }
      for (SaliencyTier tier : SaliencyTier.values()) {
        double ratio = mean > 0 ? weights[at(tier, side)] / mean : 1;
        raised[at(tier, side)] = (float) (mean * StrictMath.pow(ratio, power));
      }
    }
    return new TierStatistics(deviations, raised);
  }

  private static int at(SaliencyTier tier, KvSide side) {
    return tier.ordinal() * KvSide.COUNT + side.ordinal();
  }

  float weight(SaliencyTier tier, KvSide side) {
    return weights[at(tier, side)];
  }

  float deviation(MeadSizes sizes, KvSide side, SaliencyTier tier, int channel) {
    int ofTier = tier.ordinal() * (sizes.keyDim() + sizes.valueDim());
    return deviations[ofTier + (side == KvSide.KEYS ? 0 : sizes.keyDim()) + channel];
  }

  int length() {
    return deviations.length + weights.length;
  }
}
