package dev.kvasir.lab.claim;

/** What claims of throughput have in common: tokens of all sequences that fit a given memory. */
final class BatchClaims {
  /** Leaves by the name of each kind of cache how many times the tokens of fp16 it generates. */
  static final Experiment EXPERIMENT = Experiment.json("batch", "bench", "batch");

  static final String WHY =
      "So few weights leave little for sequences to share: tokens of all of them grow with the speed"
          + " of attention alone. With the sizes of an 8B model more is gained (results.md, Batches).";

  private BatchClaims() {}
}
