package dev.kvasir.codec.mixkvq;

import dev.kvasir.profile.Profile;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;

/**
 * What is known beforehand of a model's channels.
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

  /** A profile with this part, in the place of one that it had. */
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

  /** Thresholds that put as many channels into each tier as the tuned ones do. */
  Thresholds thresholds(Salience salience) {
    if (salience == Salience.QUERY) {
      return tuned;
    }
    return new Thresholds(
        rounded(byError.thresholdFor(byQueries.shareAbove(tuned.high()))),
        rounded(byError.thresholdFor(byQueries.shareAbove(tuned.mid()))));
  }

  /** To as many digits as a user likes to read and type. */
  public static float rounded(double threshold) {
    return new BigDecimal(threshold).round(new MathContext(4)).floatValue();
  }

  TierShares shares(Salience salience, Thresholds thresholds) {
    return quantiles(salience).shares(thresholds);
  }
}
