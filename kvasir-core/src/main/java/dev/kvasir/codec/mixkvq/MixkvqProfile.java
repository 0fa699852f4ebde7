package dev.kvasir.codec.mixkvq;

import dev.kvasir.profile.Profile;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;

/**
 * The profile part of MixKVQ.
 *
 * <pre>
 * mixkvq/thresholds  (2)        high and mid, for salience by queries
 * mixkvq/quantiles   (2, 1025)  of salience by queries, and by error alone
 * </pre>
 *
 * @param tuned thresholds for salience by queries
 */
public record MixkvqProfile(
    Thresholds tuned, SalienceQuantiles byQueries, SalienceQuantiles byError) {
  public static final String PART = "mixkvq";

  private static final String THRESHOLDS = PART + "/thresholds";
  private static final String QUANTILES = PART + "/quantiles";
  private static final int COUNT = SalienceQuantiles.COUNT;

  public static MixkvqProfile of(Profile profile) {
    float[] thresholds = profile.floats(THRESHOLDS, 2);
    float[] quantiles = profile.floats(QUANTILES, 2, COUNT);
    return new MixkvqProfile(
        new Thresholds(thresholds[0], thresholds[1]),
        new SalienceQuantiles(Arrays.copyOf(quantiles, COUNT)),
        new SalienceQuantiles(Arrays.copyOfRange(quantiles, COUNT, 2 * COUNT)));
  }

  /** Returns a profile in which this part replaces any previous one. */
  public Profile addTo(Profile profile) {
    float[] quantiles = Arrays.copyOf(byQueries.values(), 2 * COUNT);
    System.arraycopy(byError.values(), 0, quantiles, COUNT, COUNT);
    return profile
        .without(PART)
        .with(THRESHOLDS, new float[] {tuned.high(), tuned.mid()}, 2)
        .with(QUANTILES, quantiles, 2, COUNT);
  }

  private SalienceQuantiles quantiles(Salience salience) {
    return salience == Salience.QUERY ? byQueries : byError;
  }

  /** Returns thresholds that put as many channels into each tier as the tuned ones. */
  Thresholds thresholds(Salience salience) {
    if (salience == Salience.QUERY) {
      return tuned;
    }
    return new Thresholds(
        rounded(byError.thresholdFor(byQueries.shareAbove(tuned.high()))),
        rounded(byError.thresholdFor(byQueries.shareAbove(tuned.mid()))));
  }

  /** Rounds a threshold to four digits, for display and typing. */
  public static float rounded(double threshold) {
    return new BigDecimal(threshold).round(new MathContext(4)).floatValue();
  }

  TierShares shares(Salience salience, Thresholds thresholds) {
    return quantiles(salience).shares(thresholds);
  }
}
