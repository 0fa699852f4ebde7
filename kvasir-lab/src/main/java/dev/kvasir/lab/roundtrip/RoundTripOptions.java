package dev.kvasir.lab.roundtrip;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * How vectors pass through a cache.
 *
 * @param prefill tokens in the first step, as in a prompt; the others follow one by one
 * @param attend maximum number of last queries that attend
 * @param ropeTheta RoPE base of the keys, for methods that undo the rotation; empty if unknown
 * @param ropeLayout layout of rotary pairs
 */
public record RoundTripOptions(
    CacheSpec cache, int prefill, int attend, OptionalDouble ropeTheta, RopeLayout ropeLayout) {
  /** Enough queries for a stable result within seconds. */
  public static final int ATTEND = 64;

  public RoundTripOptions {
    check(prefill >= 0, "prefill", prefill, "0 or more");
    check(attend >= 1, "attend", attend, "at least 1");
    double theta = ropeTheta.orElse(1);
    check(theta > 0 && Double.isFinite(theta), "rope-theta", theta, "a number more than 0");
  }

  private static void check(boolean good, String what, Number value, String expected) {
    if (!good) {
      throw new IllegalArgumentException("%s is %s; expected %s".formatted(what, value, expected));
    }
  }

  /** Returns options without prefill and with an unknown rotation. */
  public static RoundTripOptions of(CacheSpec cache) {
    return new RoundTripOptions(cache, 0, ATTEND, OptionalDouble.empty(), RopeLayout.HALVES);
  }

  public RoundTripOptions withPrefill(int value) {
    return new RoundTripOptions(cache, value, attend, ropeTheta, ropeLayout);
  }

  public RoundTripOptions withAttend(int value) {
    return new RoundTripOptions(cache, prefill, value, ropeTheta, ropeLayout);
  }

  public RoundTripOptions withRope(double theta, RopeLayout layout) {
    return new RoundTripOptions(cache, prefill, attend, OptionalDouble.of(theta), layout);
  }

  /** Returns the rotation for a head dimension; empty if its base is unknown. */
  Optional<Rotation> rotation(int headDim) {
    return ropeTheta.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Rope(ropeLayout, RopeFrequencies.unscaled(ropeTheta.getAsDouble(), headDim)));
  }
}
