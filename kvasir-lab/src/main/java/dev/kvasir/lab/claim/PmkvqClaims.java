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
              "In the memory of 2 bits it is ahead of KIVI, as the paper has it.",
              PARTS,
              RowCheck.better(PAPER, "kivi:2,group=64,sinks=16", Task.PROSE),
              "All channels of a key share a scale, and some channels of its keys are far wider"
                  + " than others."),
          PMKVQ.claim(
              "Table 1",
              "The same with keys coded by channel and the oldest pages shrunk first, as it is"
                  + " here.",
              PARTS,
              RowCheck.better(
                  "pmkvq:2,widths=same,sinks=16", "kivi:2,group=64,sinks=16", Task.PROSE)),
          PMKVQ.claim(
              "Table 1",
              "RotateKV falls apart at 2 bits (here: ten times the divergence of KIVI).",
              BASELINES,
              RowCheck.atLeast(10, "rotatekv:2,sinks=16", "kivi:2,group=32,sinks=16", Task.PROSE),
              "Divergence tells more finely than answers; what falls apart there is worse here by"
                  + " the factor that stands beside."),
          PMKVQ.claim(
              "Table 1",
              "MiKV falls apart at 2 bits (here: ten times the divergence of KIVI).",
              BASELINES,
              RowCheck.atLeast(10, "mikv:2,sinks=16", "kivi:2,group=32,sinks=16", Task.PROSE),
              "Divergence tells more finely than answers."),
          PMKVQ.claim(
              "Table 1",
              "Widths of layers by their sensitivity are ahead of equal ones in the same budget.",
              WIDTHS,
              RowCheck.better(
                  "pmkvq:2,budget=4bits,widths=profile,shrink=layer,sinks=16",
                  "pmkvq:2,budget=4bits,widths=same,shrink=layer,sinks=16",
                  Task.PROSE),
              "Where pages shrink one by one, the oldest first, few are at the floor at all."),
          PMKVQ.claim(
              "Table 2",
              "Batches generate 2.73 times the tokens of fp16 or more in the same memory.",
              BatchClaims.EXPERIMENT,
              NumberCheck.atLeast("pmkvq:2", 2.73, "%.2f times"),
              BatchClaims.WHY),
          PMKVQ.claim(
              "Table 3",
              "At a floor of 4 bits the equivalent shift is ahead of the modified one, and that of"
                  + " the direct one.",
              PARTS,
              RowCheck.ordered(
                  Task.PROSE,
                  WIDER,
                  WIDER.replace(",sinks", ",shift=modified,sinks"),
                  WIDER.replace(",sinks", ",shift=direct,sinks")),
              "On numbers without outliers the modified shift has the smaller error."),
          PMKVQ.claim(
              "Table 3",
              "At a floor of 2 bits likewise.",
              PARTS,
              RowCheck.ordered(
                  Task.PROSE,
                  PAPER,
                  PAPER.replace(",sinks", ",shift=modified,sinks"),
                  PAPER.replace(",sinks", ",shift=direct,sinks")),
              "On numbers without outliers the modified shift has half of the squared error at 2"
                  + " bits."),
          PMKVQ.claim(
              "Table 4",
              "Calibration with positions times four helps (here: at 16,000 tokens, factors of each"
                  + " channel of its own).",
              positions(4),
              RowCheck.betterThanIn(positions(1), PAPER, Task.PROSE),
              "Few pairs of 64 channels turn so slowly that a sample of 2,048 tokens has not seen"
                  + " all of their turn."),
          PMKVQ.claim(
              "Section 3.2",
              "Smoothing of keys helps where all channels of a key share a scale.",
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
              "While a budget is not used up, answers are those of 16 bits (here: programs in a"
                  + " budget for 4 bits).",
              METHODS,
              RowCheck.asGoodAsFp16("pmkvq:4,widths=same,sinks=16", Task.CHAIN)));
}
