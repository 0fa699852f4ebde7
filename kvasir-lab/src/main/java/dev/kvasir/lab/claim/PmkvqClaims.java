package dev.kvasir.lab.claim;

import static dev.kvasir.lab.claim.Paper.PMKVQ;

import dev.kvasir.lab.eval.Task;
import java.util.List;

/** Claims of "PM-KVQ: Progressive Mixed-precision KV Cache Quantization for Long-CoT LLMs". */
final class PmkvqClaims {
  private static final Experiment PARTS = Experiment.table("pmkvq");
  private static final Experiment METHODS = Experiment.table("methods");
  private static final Experiment WIDTHS = Experiment.table("pmkvq-widths");
  private static final Experiment BASELINES = Experiment.table("baselines");

  private static final String PAPER =
      "pmkvq:2,widths=same,keys=token,shrink=layer,born=wide,sinks=16";
  private static final String WIDER =
      "pmkvq:4,widths=same,keys=token,shrink=layer,born=wide,sinks=16";

  private PmkvqClaims() {}

  /**
   * Requires a profile from {@code calibrate --kv pmkvq:2 --position-scale S --factors own --keys
   * token --smoothing-bits 2 --out target/positions-S.profile}. Factors tied over a rotary pair
   * would not depend on positions.
   */
  private static Experiment positions(int scale) {
    return Experiment.json(
        "pmkvq-positions-" + scale,
        "eval --profile target/positions-%d.profile --tasks kld,prose --context 16000 --seed 1 --kv %s"
            .formatted(scale, PAPER));
  }

  static final List<Claim> ALL =
      List.of(
          PMKVQ.claim(
              "Table 1",
              "In the memory of 2 bits it beats KIVI, in the paper's form.",
              PARTS,
              RowCheck.better(PAPER, "kivi:2,group=64,sinks=16", Task.PROSE),
              "All channels of a key share one scale, and some channels are far wider than"
                  + " others."),
          PMKVQ.claim(
              "Table 1",
              "The same with per-channel keys and the oldest pages requantized first (Kvasir's"
                  + " form).",
              PARTS,
              RowCheck.better(
                  "pmkvq:2,widths=same,sinks=16", "kivi:2,group=64,sinks=16", Task.PROSE)),
          PMKVQ.claim(
              "Table 1",
              "RotateKV collapses at 2 bits (here: ten times the divergence of KIVI).",
              BASELINES,
              RowCheck.atLeast(10, "rotatekv:2,sinks=16", "kivi:2,group=32,sinks=16", Task.PROSE),
              "The paper scores answers; divergence is a finer measure."),
          PMKVQ.claim(
              "Table 1",
              "MiKV collapses at 2 bits (here: ten times the divergence of KIVI).",
              BASELINES,
              RowCheck.atLeast(10, "mikv:2,sinks=16", "kivi:2,group=32,sinks=16", Task.PROSE),
              "The paper scores answers; divergence is a finer measure."),
          PMKVQ.claim(
              "Table 1",
              "Layer widths by sensitivity beat equal widths in the same budget.",
              WIDTHS,
              RowCheck.better(
                  "pmkvq:2,budget=4bits,widths=profile,shrink=layer,sinks=16",
                  "pmkvq:2,budget=4bits,widths=same,shrink=layer,sinks=16",
                  Task.PROSE),
              "When pages are requantized one by one, the oldest first, few reach the floor."),
          PMKVQ.claim(
              "Table 2",
              "Batches generate 2.73 times the tokens of fp16 or more in the same memory.",
              BatchClaims.EXPERIMENT,
              NumberCheck.atLeast("pmkvq:2", 2.73, "%.2f times"),
              BatchClaims.WHY),
          PMKVQ.claim(
              "Table 3",
              "At a floor of 4 bits the equivalent shift beats the modified one, which beats the"
                  + " direct one.",
              PARTS,
              RowCheck.ordered(
                  Task.PROSE,
                  WIDER,
                  WIDER.replace(",sinks", ",shift=modified,sinks"),
                  WIDER.replace(",sinks", ",shift=direct,sinks")),
              "Without outliers the modified shift has the smaller error."),
          PMKVQ.claim(
              "Table 3",
              "The same at a floor of 2 bits.",
              PARTS,
              RowCheck.ordered(
                  Task.PROSE,
                  PAPER,
                  PAPER.replace(",sinks", ",shift=modified,sinks"),
                  PAPER.replace(",sinks", ",shift=direct,sinks")),
              "Without outliers the modified shift has half the squared error at 2 bits."),
          PMKVQ.claim(
              "Table 4",
              "Calibration with positions scaled by four helps (here: at 16,000 tokens, separate"
                  + " factors for each channel).",
              positions(4),
              RowCheck.betterThanIn(positions(1), PAPER, Task.PROSE),
              "Few rotary pairs of 64 channels are so slow that a sample of 2,048 tokens misses"
                  + " part of their rotation."),
          PMKVQ.claim(
              "Section 3.2",
              "Key smoothing helps if all channels of a key share a scale.",
              PARTS,
              RowCheck.better(PAPER, PAPER.replace(",sinks", ",smoothing=off,sinks"), Task.PROSE)),
          PMKVQ.claim(
              "Figures 3 and 4",
              "The first and the deep layers are the most sensitive (here: the first and the last,"
                  + " at 2 bits).",
              Experiment.json("pmkvq-layers", "calibrate --kv pmkvq:2 --out target/pmkvq.profile"),
              NumberCheck.endsAreLargest("layer %d at 2 bits", "%.2f")),
          PMKVQ.claim(
              "Table 5",
              "Within its budget, answers match 16 bits (here: programs in a budget for 4 bits).",
              METHODS,
              RowCheck.asGoodAsFp16("pmkvq:4,widths=same,sinks=16", Task.CHAIN)));
}
