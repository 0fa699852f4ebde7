package dev.kvasir.codec.mixkvq;

import java.util.Arrays;

/**
 * How saliences of a model's channels are distributed, as measured on some text: what a threshold
 * means in bytes, and which threshold means the same by another measure.
 *
 * @param values ascending, at even steps from the least to the largest
 */
public record SalienceQuantiles(float[] values) {
  /** Numbers that are kept: tiers of half a percent are told apart well. */
  public static final int COUNT = 1025;

  /** Of numbers in any order. */
  public static SalienceQuantiles of(float[] saliences) {
    float[] sorted = saliences.clone();
    Arrays.sort(sorted);
    float[] values = new float[COUNT];
    for (int i = 0; i < COUNT; i++) {
      values[i] = sorted[(int) Math.round((sorted.length - 1.0) * i / (COUNT - 1))];
    }
    return new SalienceQuantiles(values);
  }

  /** What part of channels exceeds a threshold. */
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

  /** The threshold that this part of channels exceeds. */
  public double thresholdFor(double share) {
    int last = values.length - 1;
    double place = Math.clamp(1 - share, 0, 1) * last;
    int i = Math.min((int) place, last - 1);
    return values[i] + (place - i) * ((double) values[i + 1] - values[i]);
  }

  /** The tiers that thresholds lead to. */
  public TierShares shares(Thresholds thresholds) {
    double high = shareAbove(thresholds.high());
    return new TierShares(high, Math.max(0, shareAbove(thresholds.mid()) - high));
  }
}
