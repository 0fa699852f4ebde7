package dev.kvasir.lab.claim;

/**
 * Shared parts of throughput claims, which count the tokens of all sequences that fit a given
 * memory.
 */
final class BatchClaims {
  /** Measures the throughput of each cache relative to fp16, by cache name. */
  static final Experiment EXPERIMENT = Experiment.json("batch", "bench batch");

  static final String WHY =
      "The bundled model has few weights to share between sequences. With the shape of an 8B"
          + " model the gain is larger ([batches](results.md#batches)).";

  private BatchClaims() {}
}
