package dev.kvasir.lab.claim;

/**
 * Shared parts of throughput claims, which count the tokens of all sequences that fit a given
 * memory.
 */
final class BatchClaims {
  /** Measures the throughput of each cache relative to fp16, by cache name. */
  static final Experiment EXPERIMENT = Experiment.json("batch", "bench batch");

  static final String WHY =
      "So few weights leave little for sequences to share: tokens of all of them grow with the"
          + " speed of attention alone. With the sizes of an 8B model more is gained (results.md,"
          + " Batches).";

  private BatchClaims() {}
}
