package dev.kvasir.lab.claim;

/** What claims of throughput have in common: tokens of all sequences that fit a given memory. */
final class BatchClaims {
  /** Leaves by the name of each kind of cache how many times the tokens of fp16 it generates. */
  static final Trial TRIAL = Trial.json("batch", "bench", "batch");

  static final String WHY =
      "On a processor a larger batch does not hide the time that attention takes: tokens of all"
          + " sequences together grow with the speed of one, not with how many fit.";

  private BatchClaims() {}
}
