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

  /** Key channels in which four rotary pairs are 16 times as wide, without changing the model. */
  private static final Experiment OUTLIERS =
      Experiment.eval(
          "outliers",
          "--tasks prose --context 1900 --prompt 950 --prefill exact --seed 1 --outliers 4:16",
          "kivi:2,group=32,sinks=0,window=0",
          "rotatekv:2,sinks=0,window=0",
          "rotatekv:2,order=off,sinks=0,window=0",
          "mikv:2,share=0,sinks=0,window=0");

  private static final String OUTLIER_CONDITIONS =
      "outlier channels as in the paper's models, no sinks, no window";

  private static final String PAPER =
      "pmkvq:2,widths=same,keys=token,shrink=layer,born=wide,sinks=16";
  private static final String WIDER =
      "pmkvq:4,widths=same,keys=token,shrink=layer,born=wide,sinks=16";

  /** The mean answer of the paper fills this share of the budget: 13,904 of 32,768 tokens. */
  private static final double ANSWER = 0.42;

  private PmkvqClaims() {}

  /** Smoothing factors calibrated with scaled positions, one for each channel. */
  private static Experiment positions(int scale) {
    String profile = "target/positions-%d.profile".formatted(scale);
    return Experiment.eval(
            "pmkvq-positions-" + scale,
            "--profile %s --tasks kld,prose --context 16000 --seed 1".formatted(profile),
            PAPER)
        .after(
            "calibrate --kv pmkvq:2 --position-scale %d --keys token --smoothing-bits 2 --out %s"
                .formatted(scale, profile));
  }

  static final List<Claim> ALL =
      List.of(
          PMKVQ
              .claim(
                  "Table 1",
                  "In the memory of 2 bits it beats KIVI.",
                  "AIME 24 40.00 against 32.08 (Qwen 7B)")
              .paperForm(
                  "the first 42% of the budget, which a mean answer of the paper fills",
                  PARTS, RowCheck.lowerUpTo(ANSWER, PAPER, "kivi:2,group=64,sinks=16", Task.PROSE))
              .equalTerms(
                  "the paper's form, a text that fills the budget",
                  PARTS,
                  RowCheck.better(PAPER, "kivi:2,group=64,sinks=16", Task.PROSE))
              .remark(
                  "Up to the mean length of an answer most tokens still have 4 to 16 bits. At its"
                      + " floor the paper's form is worse than KIVI, because all channels of a key"
                      + " share one scale."),
          PMKVQ
              .claim(
                  "Table 1",
                  "RotateKV collapses at 2 bits (here: three times the divergence of KIVI).",
                  "AIME 24 0 against 32.08 (Qwen 7B)")
              .paperForm(
                  OUTLIER_CONDITIONS,
                  OUTLIERS,
                  RowCheck.atLeast(
                      3,
                      "rotatekv:2,sinks=0,window=0",
                      "kivi:2,group=32,sinks=0,window=0",
                      Task.PROSE))
              .equalTerms(
                  BASELINES,
                  RowCheck.atLeast(
                      3, "rotatekv:2,sinks=16", "kivi:2,group=32,sinks=16", Task.PROSE)),
          PMKVQ
              .claim(
                  "Table 1",
                  "MiKV collapses at 2 bits (here: three times the divergence of KIVI).",
                  "AIME 24 0 against 32.08 (Qwen 7B)")
              .paperForm(
                  OUTLIER_CONDITIONS + ", all tokens at 2 bits",
                  OUTLIERS,
                  RowCheck.atLeast(
                      3,
                      "mikv:2,share=0,sinks=0,window=0",
                      "kivi:2,group=32,sinks=0,window=0",
                      Task.PROSE))
              .equalTerms(
                  "a quarter of the tokens at 8 bits",
                  BASELINES,
                  RowCheck.atLeast(3, "mikv:2,sinks=16", "kivi:2,group=32,sinks=16", Task.PROSE)),
          PMKVQ
              .claim(
                  "Table 1",
                  "Layer widths by sensitivity beat equal widths in the same budget.",
                  "AIME 24 40.21 against 40.00 (Qwen 7B), 67.71 against 63.33 (Qwen 14B)")
              .paperForm(
                  "whole layers requantized, 4 bits",
                  WIDTHS,
                  RowCheck.better(
                      "pmkvq:2,budget=4bits,widths=profile,shrink=layer,sinks=16",
                      "pmkvq:2,budget=4bits,widths=same,shrink=layer,sinks=16",
                      Task.PROSE))
              .equalTerms(
                  "oldest pages requantized first, 4 bits",
                  WIDTHS,
                  RowCheck.better(
                      "pmkvq:2,budget=4bits,widths=profile,sinks=16",
                      "pmkvq:2,budget=4bits,widths=same,sinks=16",
                      Task.PROSE))
              .equalTerms(
                  "whole layers requantized, 5 bits",
                  WIDTHS,
                  RowCheck.better(
                      "pmkvq:2,budget=5bits,widths=profile,shrink=layer,sinks=16",
                      "pmkvq:2,budget=5bits,widths=same,shrink=layer,sinks=16",
                      Task.PROSE)),
          PMKVQ
              .claim(
                  "Table 2",
                  "Batches generate 2.73 times the tokens of fp16 or more in the same memory.",
                  "2.73 to 5.18 times")
              .equalTerms(BatchClaims.EXPERIMENT, BatchClaims.timesFp16("pmkvq:2", 2.73))
              .remark(BatchClaims.REMARK),
          PMKVQ
              .claim(
                  "Table 3",
                  "At a floor of 4 bits the equivalent shift beats the modified one, which beats the"
                      + " direct one.",
                  "AIME 24 38.33, 28.75, 12.08")
              .paperForm(
                  "16 sinks",
                  PARTS,
                  RowCheck.ordered(
                      Task.PROSE,
                      WIDER,
                      WIDER.replace(",sinks", ",shift=modified,sinks"),
                      WIDER.replace(",sinks", ",shift=direct,sinks"))),
          PMKVQ
              .claim(
                  "Table 4",
                  "Calibration with positions scaled by four helps.",
                  "AIME 24-I 48.33 against 46.67")
              .paperForm(
                  "16,000 tokens, 16 sinks",
                  positions(4),
                  RowCheck.betterThanIn(positions(1), PAPER, PAPER, Task.PROSE)),
          PMKVQ
              .claim(
                  "Section 3.3",
                  "Key smoothing helps if all channels of a key share a scale.",
                  "by reference to QServe")
              .paperForm(
                  "16 sinks",
                  PARTS,
                  RowCheck.better(
                      PAPER, PAPER.replace(",sinks", ",smoothing=off,sinks"), Task.PROSE)),
          PMKVQ
              .claim(
                  "Figures 3 and 4",
                  "Deep layers are the most sensitive (here: the last quarter against the half in"
                      + " the middle, at 2 bits).",
                  "sensitivity by layer")
              .paperForm(
                  "8 samples of 2,048 tokens",
                  Experiment.json(
                      "pmkvq-layers", "calibrate --kv pmkvq:2 --out target/pmkvq.profile"),
                  NumberCheck.deepLayersAreLargest("layer %d at 2 bits", "%.2f"))
              .remark(
                  "The paper finds the first layer sensitive too, but not in models of the LLaMA"
                      + " family."),
          PMKVQ
              .claim(
                  "Table 5",
                  "Within its budget, answers match 16 bits (here: programs in a budget for 4 bits,"
                      + " at most 5 points fewer).",
                  "within 1 point")
              .equalTerms(
                  METHODS,
                  RowCheck.answersWithin(
                      0.05, "pmkvq:4,widths=same,sinks=16", "fp16", Task.CHAIN)));
}
