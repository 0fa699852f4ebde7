package dev.kvasir.lab.claim;

/**
 * Shared parts of throughput claims, which count the tokens of all sequences that fit a given
 * memory.
 */
final class BatchClaims {
  /** Measures the throughput of each cache relative to fp16, by cache name. */
  static final Experiment EXPERIMENT = Experiment.json("batch", "bench batch");

  /** The conditions of the papers as far as a card is concerned: the shape of an 8B model. */
  static final Experiment CARD =
      Experiment.json(
              "batch",
              "bench gpu --rounds 5 --kv"
                  + " fp16;kivi:2;patternkv:2,as=paper;mixkvq,as=paper,tiers=residual"
                  + " --steps 1x1280:8b --fill 60GiB")
          .on(TestBed.CARD);

  static final String REMARK =
      "The bundled model has few weights to share between sequences, so its figures say little"
          + " about larger models ([batches](results.md#batches)).";

  private BatchClaims() {}

  /** Checks the tokens of a full memory relative to fp16. */
  static Check timesFp16(String name, double least) {
    return NumberCheck.atLeast(name, least, "%.2f times");
  }

  /** Checks the tokens of a full card relative to fp16. */
  static Check timesFp16OnCard(String format, double least) {
    return timesFp16(format + " throughput", least);
  }
}
