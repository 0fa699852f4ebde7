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
  private static final Experiment BASELINES = Experiment.table("baselines");
  private static final String MIXED = "mixkvq,sinks=16";
  private static final String PUBLISHED = "mixkvq,as=paper";

  /** Perplexity is the paper's measure of groups, residual lengths and widths. */
  private static final Experiment PAPER =
      Experiment.eval(
          "mixkvq-paper",
          "--tasks ppl,prose --context 4000 --seed 1",
          "kivi:2,group=32,sinks=32,window=0",
          "kivi,k=4,v=2,group=32,sinks=32,window=0",
          "kivi,k=2,v=4,group=32,sinks=32,window=0",
          PUBLISHED,
          published("salience=error"),
          published("group=64"),
          published("group=128"),
          published("residual=32"),
          published("residual=64"),
          published("residual=96"),
          published("residual=256"));

  private static final String CONDITIONS = "32 sinks, no window, 4,000 tokens";

  private MixkvqClaims() {}

  private static String published(String setting) {
    return PUBLISHED + "," + setting;
  }

  private static Check sameResidual(int tokens) {
    return RowCheck.atMost(1.01, PUBLISHED, published("residual=" + tokens), Task.PPL);
  }

  static final List<Claim> ALL =
      List.of(
          MIXKVQ
              .claim("Table 3", "It beats KIVI at 2 bits.", "mean 51.89 against 43.11 (Llama 8B)")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.better(PUBLISHED, "kivi:2,group=32,sinks=32,window=0", Task.PROSE))
              .equalTerms(PARTS, RowCheck.better(MIXED, "kivi:2,group=32,sinks=16", Task.PROSE)),
          MIXKVQ
              .claim(
                  "Table 3",
                  "Its solutions match those of 4 bits (here: at most 5 points fewer programs).",
                  "mean 51.89 against 49.16 (Llama 8B)")
              .equalTerms(
                  METHODS, RowCheck.answersWithin(0.05, MIXED, "kivi:4,sinks=16", Task.CHAIN)),
          MIXKVQ
              .claim(
                  "Table 3",
                  "It beats KVTuner at about 3 bits.",
                  "mean 51.89 against 49.02 (Llama 8B)")
              .equalTerms(
                  BASELINES,
                  RowCheck.worseThanIn(METHODS, "kvtuner:3,sinks=16", MIXED, Task.PROSE)),
          MIXKVQ
              .claim("Table 3", "It beats KVQuant at 2 bits.", "mean 51.89 against 9.64 (Llama 8B)")
              .equalTerms(
                  BASELINES,
                  RowCheck.worseThanIn(METHODS, "kvquant:2,sinks=16", MIXED, Task.PROSE)),
          MIXKVQ
              .claim(
                  "Table 3",
                  "KVQuant collapses at 2 bits (here: three times the divergence of KIVI).",
                  "mean 9.64 against 43.11 (Llama 8B)")
              .equalTerms(
                  BASELINES,
                  RowCheck.atLeast(
                      3, "kvquant:2,sinks=16", "kivi:2,group=32,sinks=16", Task.PROSE)),
          MIXKVQ
              .claim(
                  "Table 7",
                  "Choosing channels by queries and errors beats errors alone.",
                  "AIME 60.00 against 53.33 (Qwen 14B)")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.better(PUBLISHED, published("salience=error"), Task.PROSE))
              .equalTerms(
                  PARTS, RowCheck.better(MIXED, "mixkvq,salience=error,sinks=16", Task.PROSE)),
          MIXKVQ
              .claim(
                  "Table 2",
                  "4-bit keys with 2-bit values beat the reverse.",
                  "perplexity 6.81 against 8.13")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.better(
                      "kivi,k=4,v=2,group=32,sinks=32,window=0",
                      "kivi,k=2,v=4,group=32,sinks=32,window=0",
                      Task.PPL))
              .equalTerms(
                  PARTS,
                  RowCheck.better(
                      "kivi,k=4,v=2,group=32,sinks=16",
                      "kivi,k=2,v=4,group=32,sinks=16",
                      Task.PROSE)),
          MIXKVQ
              .claim(
                  "Table 6",
                  "Smaller groups are better, from 32 to 64 to 128.",
                  "perplexity 7.05, 7.10, 7.12")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.ordered(
                      Task.PPL, PUBLISHED, published("group=64"), published("group=128")))
              .equalTerms(
                  PARTS,
                  RowCheck.ordered(
                      Task.PROSE, MIXED, "mixkvq,group=64,sinks=16", "mixkvq,group=128,sinks=16")),
          MIXKVQ
              .claim(
                  "Table 6",
                  "The residual length makes no difference (here: at most 1% of perplexity, 128"
                      + " against 32 to 256).",
                  "perplexity 7.09, 7.04, 7.03, 7.05, 7.03")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.all(
                      sameResidual(32), sameResidual(64), sameResidual(96), sameResidual(256)))
              .equalTerms(
                  "divergence, 128 against 512",
                  PARTS,
                  RowCheck.atMost(1.1, MIXED, "mixkvq,residual=512,sinks=16", Task.PROSE))
              .remark(
                  "Divergence shows that a longer residual keeps more tokens exact, which"
                      + " perplexity does not."),
          MIXKVQ
              .claim(
                  "Table 5",
                  "Ranges of query and key channels hardly correlate (here: -0.3 to 0.3 in every"
                      + " layer).",
                  "0.16, 0.15, 0.25 in layers 0, 16 and 31")
              .equalTerms(
                  Experiment.json("mixkvq-channels", "tune --trials 0"),
                  NumberCheck.layersWithin("layer %d", 0.3, "%.2f")),
          MIXKVQ
              .claim(
                  "Figure 5",
                  "Batches generate 2.63 times the tokens of fp16 or more in the same memory.",
                  "2.63 to 2.81 times")
              .paperForm(
                  "a full card", BatchClaims.CARD, BatchClaims.timesFp16OnCard("mixkvq", 2.63))
              .equalTerms(BatchClaims.EXPERIMENT, BatchClaims.timesFp16("mixkvq", 2.63))
              .remark(BatchClaims.REMARK),
          MIXKVQ
              .claim("Figure 5", "In the same memory 2.25 times the sequences of fp16 fit.", "2.25")
              .equalTerms(
                  BatchClaims.EXPERIMENT,
                  NumberCheck.countAtLeast("mixkvq sequences", 2.25, "%.2f times")));
}
