package dev.kvasir.lab.claim;

import dev.kvasir.lab.eval.Estimate;
import java.util.Locale;

/**
 * The result of checking a claim.
 *
 * @param measured what was measured, in a few words, with its 95% interval; empty if nothing was
 * @param figure the part of it that decides, without the scores it was computed from
 */
public record Finding(Verdict verdict, String measured, String figure) {
  static final Finding NONE = new Finding(Verdict.NOT_TRIED, "");

  Finding(Verdict verdict, String figure) {
    this(verdict, figure, figure);
  }

  /** Returns a figure that was computed from scores. */
  static Finding of(Verdict verdict, String scores, String figure) {
    return new Finding(verdict, (scores + " " + figure).strip(), figure);
  }

  /** Judges a figure that is counted and not sampled. */
  static Finding exact(boolean holds, String figure) {
    return new Finding(holds ? Verdict.HOLDS : Verdict.FAILS, figure + ", exact");
  }

  /** Returns whether an estimate is at most a bound, beyond sampling error. */
  static Verdict atMost(Estimate estimate, double most) {
    if (Double.isNaN(estimate.low()) || Double.isNaN(estimate.high())) {
      return Verdict.POINT;
    }
    if (estimate.high() <= most) {
      return Verdict.HOLDS;
    }
    return estimate.low() > most ? Verdict.FAILS : Verdict.OPEN;
  }

  /** Returns whether an estimate is at least a bound, beyond sampling error. */
  static Verdict atLeast(Estimate estimate, double least) {
    return atMost(new Estimate(-estimate.value(), -estimate.high(), -estimate.low()), -least);
  }

  /** Returns an interval in words, such as {@code (0.78 to 0.91)}; empty if there is none. */
  static String interval(Estimate estimate, String format) {
    return Double.isNaN(estimate.low()) || Double.isNaN(estimate.high())
        ? ""
        : " (%s to %s)".formatted(number(format, estimate.low()), number(format, estimate.high()));
  }

  static String number(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }
}
