package dev.kvasir.lab.claim;

import static dev.kvasir.lab.claim.Claim.tried;
import static dev.kvasir.lab.claim.Claim.untried;
import static dev.kvasir.lab.claim.Paper.PMKVQ;

import dev.kvasir.lab.eval.Task;
import java.util.List;

/** Of "PM-KVQ: Progressive Mixed-precision KV Cache Quantization for Long-CoT LLMs". */
final class PmkvqClaims {
  private static final Trial PARTS = Trial.table("pmkvq");
  private static final Trial METHODS = Trial.table("methods");
  private static final Trial WIDTHS = Trial.table("pmkvq-widths");
  private static final Trial BASELINES = Trial.table("baselines");

  private static final String PAPER =
      "pmkvq:2,widths=same,keys=token,shrink=layer,born=wide,sinks=16";
  private static final String WIDER =
      "pmkvq:4,widths=same,keys=token,shrink=layer,born=wide,sinks=16";

  private PmkvqClaims() {}

  static final List<Claim> ALL =
      List.of(
          tried(
              PMKVQ,
              "Table 1",
              "In the memory of 2 bits it is ahead of KIVI, as the paper has it.",
              PARTS,
              RowCheck.better(PAPER, "kivi:2,group=64,sinks=16", Task.PROSE),
              "All channels of a key share a scale, and some channels of its keys are far wider than"
                  + " others."),
          tried(
              PMKVQ,
              "Table 1",
              "The same with keys coded by channel and the oldest pages shrunk first, as it is here.",
              PARTS,
              RowCheck.better(
                  "pmkvq:2,widths=same,sinks=16", "kivi:2,group=64,sinks=16", Task.PROSE),
              ""),
          tried(
              PMKVQ,
              "Table 1",
              "RotateKV falls apart at 2 bits (here: ten times the divergence of KIVI).",
              BASELINES,
              RowCheck.atLeast(10, "rotatekv:2,sinks=16", "kivi:2,group=32,sinks=16", Task.PROSE),
              "Divergence tells more finely than answers; what falls apart there is worse here by the"
                  + " factor that stands beside."),
          tried(
              PMKVQ,
              "Table 1",
              "MiKV falls apart at 2 bits (here: ten times the divergence of KIVI).",
              BASELINES,
              RowCheck.atLeast(10, "mikv:2,sinks=16", "kivi:2,group=32,sinks=16", Task.PROSE),
              "Divergence tells more finely than answers."),
          tried(
              PMKVQ,
              "Table 1",
              "Widths of layers by their sensitivity are ahead of equal ones in the same budget.",
              WIDTHS,
              RowCheck.better(
                  "pmkvq:2,budget=4bits,widths=profile,shrink=layer,sinks=16",
                  "pmkvq:2,budget=4bits,widths=same,shrink=layer,sinks=16",
                  Task.PROSE),
              "Where pages shrink one by one, the oldest first, few are at the floor at all."),
          tried(
              PMKVQ,
              "Table 2",
              "Batches generate 2.73 times the tokens of fp16 or more in the same memory.",
              BatchClaims.TRIAL,
              NumberCheck.atLeast("pmkvq:2", 2.73, "%.2f times"),
              BatchClaims.WHY),
          tried(
              PMKVQ,
              "Table 3",
              "At a floor of 4 bits the equivalent shift is ahead of the modified one, and that of the"
                  + " direct one.",
              PARTS,
              RowCheck.ordered(
                  Task.PROSE,
                  WIDER,
                  WIDER.replace(",sinks", ",shift=modified,sinks"),
                  WIDER.replace(",sinks", ",shift=direct,sinks")),
              "On numbers without outliers the modified shift has the smaller error."),
          tried(
              PMKVQ,
              "Table 3",
              "At a floor of 2 bits likewise.",
              PARTS,
              RowCheck.ordered(
                  Task.PROSE,
                  PAPER,
                  PAPER.replace(",sinks", ",shift=modified,sinks"),
                  PAPER.replace(",sinks", ",shift=direct,sinks")),
              "On numbers without outliers the modified shift has half of the squared error at 2 bits."),
          untried(
              PMKVQ,
              "Table 4",
              "Calibration with positions times four helps.",
              "`./kvasir calibrate --kv pmkvq:2 --factors own --smoothing-bits 2 --position-scale S` makes"
                  + " profiles to compare; with factors tied over a rotating pair, positions change"
                  + " nothing in them (docs/methods/pm-kvq.md)."),
          tried(
              PMKVQ,
              "Section 3.2",
              "Smoothing of keys helps where all channels of a key share a scale.",
              PARTS,
              RowCheck.better(PAPER, PAPER.replace(",sinks", ",smoothing=off,sinks"), Task.PROSE),
              ""),
          untried(
              PMKVQ,
              "Figures 3 and 4",
              "The first and the deep layers are the most sensitive.",
              "`./kvasir calibrate --kv pmkvq` measures it and docs/methods/pm-kvq.md shows it (they"
                  + " are); it leaves no file that this page could read."),
          tried(
              PMKVQ,
              "Table 5",
              "While a budget is not used up, answers are those of 16 bits (here: programs in a budget"
                  + " for 4 bits).",
              METHODS,
              RowCheck.asGoodAsHalf("pmkvq:4,widths=same,sinks=16", Task.CHAIN),
              ""));
}
