package dev.kvasir.codec.mixkvq;

import java.util.Arrays;

/**
 * The distribution of the salience of a model's channels, measured on a text. It converts
 * thresholds to tier sizes, and between salience measures.
 *
 * @param values ascending quantiles at even steps from the minimum to the maximum
 */
public record SalienceQuantiles(float[] values) {
  /** Number of quantiles: enough to resolve tiers of half a percent. */
  public static final int COUNT = 1025;

  /** Returns the quantiles of unsorted numbers. */
  public static SalienceQuantiles of(float[] saliences) {
    float[] sorted = saliences.clone();
    Arrays.sort(sorted);
    float[] values = new float[COUNT];
    for (int i = 0; i < COUNT; i++) {
      values[i] = sorted[(int) Math.round((sorted.length - 1.0) * i / (COUNT - 1))];
    }
    return new SalienceQuantiles(values);
  }

  public double shareAbove(double threshold) {
    int last = values.length - 1;
    if (threshold < values[0]) {
      return 1;
    }
    if (threshold >= values[last]) {
      return 0;
    }
    int i = 0;
    while (values[i + 1] <= threshold) {
      i++;
    }
    double within = (threshold - values[i]) / ((double) values[i + 1] - values[i]);
    return 1 - (i + within) / last;
  }

  /** Returns the threshold that the given share of channels exceeds. */
  public double thresholdFor(double share) {
    int last = values.length - 1;
    double place = Math.clamp(1 - share, 0, 1) * last;
    int i = Math.min((int) place, last - 1);
    return values[i] + (place - i) * ((double) values[i + 1] - values[i]);
  }

  /** Returns the tier sizes for thresholds. */
  public TierShares shares(Thresholds thresholds) {
    double high = shareAbove(thresholds.high());
    return new TierShares(high, Math.max(0, shareAbove(thresholds.mid()) - high));
  }
}
