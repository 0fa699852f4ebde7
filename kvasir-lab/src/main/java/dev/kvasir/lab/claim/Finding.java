package dev.kvasir.lab.claim;

/**
 * The result of checking a claim.
 *
 * @param measured what was measured, in a few words; empty if nothing was
 */
public record Finding(Verdict verdict, String measured) {
  static final Finding NONE = new Finding(Verdict.NOT_TRIED, "");

  static Finding of(boolean holds, String figure) {
    return new Finding(holds ? Verdict.HOLDS : Verdict.FAILS, figure);
  }
}
