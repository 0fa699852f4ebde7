package dev.kvasir.lab.claim;

import static dev.kvasir.lab.claim.Paper.MIXKVQ;

import dev.kvasir.lab.eval.Task;
import java.util.List;

/**
 * Claims of "MixKVQ: Query-Aware Mixed-Precision KV Cache Quantization for Long-Context Reasoning".
 */
final class MixkvqClaims {
  private static final Experiment PARTS = Experiment.table("mixkvq");
  private static final Experiment METHODS = Experiment.table("methods");
  private static final String MIXED = "mixkvq,sinks=16";

  private MixkvqClaims() {}

  static final List<Claim> ALL =
      List.of(
          MIXKVQ.claim(
              "Table 3",
              "It beats KIVI at 2 bits.",
              PARTS,
              RowCheck.better(MIXED, "kivi:2,group=32,sinks=16", Task.PROSE)),
          MIXKVQ.claim(
              "Table 3",
              "It matches 4-bit methods.",
              PARTS,
              RowCheck.asGood(MIXED, "kivi:4,sinks=16", Task.PROSE),
              "Its answers do; divergence is a finer measure."),
          MIXKVQ.claim(
              "Table 3",
              "Its solutions match those of 4 bits.",
              METHODS,
              RowCheck.asGood(MIXED, "kivi:4,sinks=16", Task.CHAIN)),
          MIXKVQ.claim(
              "Table 7",
              "Choosing channels by queries and errors beats errors alone.",
              PARTS,
              RowCheck.better(MIXED, "mixkvq,salience=error,sinks=16", Task.PROSE)),
          MIXKVQ.claim(
              "Table 2",
              "4-bit keys with 2-bit values beat the reverse.",
              PARTS,
              RowCheck.better(
                  "kivi,k=4,v=2,group=32,sinks=16", "kivi,k=2,v=4,group=32,sinks=16", Task.PROSE)),
          MIXKVQ.claim(
              "Table 6",
              "Smaller groups are better, from 32 to 64 to 128.",
              PARTS,
              RowCheck.ordered(
                  Task.PROSE, MIXED, "mixkvq,group=64,sinks=16", "mixkvq,group=128,sinks=16")),
          MIXKVQ.claim(
              "Table 6",
              "The length of the residual window makes no difference.",
              PARTS,
              RowCheck.asGood(MIXED, "mixkvq,residual=512,sinks=16", Task.PROSE),
              "A longer window keeps more tokens in full precision, at the cost of bits."),
          MIXKVQ.claim(
              "Table 5",
              "Ranges of query and key channels hardly correlate (here: at most 0.3 in every"
                  + " layer).",
              Experiment.json("mixkvq-channels", "tune --trials 0"),
              NumberCheck.layersAtMost("layer %d", 0.3, "%.2f")),
          MIXKVQ.claim(
              "Figure 5",
              "Batches generate 2.63 times the tokens of fp16 or more in the same memory.",
              BatchClaims.EXPERIMENT,
              NumberCheck.atLeast("mixkvq", 2.63, "%.2f times"),
              BatchClaims.WHY),
          MIXKVQ.claim(
              "Figure 5",
              "In the same memory 2.25 times the sequences of fp16 fit.",
              BatchClaims.EXPERIMENT,
              NumberCheck.atLeast("mixkvq sequences", 2.25, "%.2f times")));
}
