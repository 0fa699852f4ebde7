package dev.kvasir.lab.claim;

import static dev.kvasir.lab.claim.Paper.COMMVQ;

import dev.kvasir.lab.eval.Task;
import java.util.List;

/** Claims of "CommVQ: Commutative Vector Quantization for KV Cache Compression". */
final class CommvqClaims {
  private static final Experiment PARTS = Experiment.table("commvq");
  private static final Experiment METHODS = Experiment.table("methods");
  private static final Experiment BASELINES = Experiment.table("baselines");
  private static final String ONE = "commvq:1,sinks=16";
  private static final String TWO = "commvq:2,sinks=16";
  private static final String KIVI_ONE = "kivi:1,group=32,sinks=16";
  private static final String KIVI_TWO = "kivi:2,group=32,sinks=16";

  private static final String PUBLISHED_ONE = "commvq:1,as=paper,values=encoder";
  private static final String PUBLISHED_TWO = "commvq:2,as=paper,values=encoder";
  private static final String PUBLISHED_KIVI_ONE = "kivi:1,group=32,sinks=0,window=0";
  private static final String PUBLISHED_KIVI_TWO = "kivi:2,group=32,sinks=0,window=0";
  private static final String ENCODERS = "target/commvq-encoders.profile";
  private static final Experiment PAPER =
      Experiment.eval(
              "commvq-paper",
              "--profile %s --tasks ppl,prose --context 4000 --seed 1".formatted(ENCODERS),
              PUBLISHED_KIVI_ONE,
              PUBLISHED_KIVI_TWO,
              PUBLISHED_ONE,
              PUBLISHED_TWO)
          .after("calibrate --kv commvq:1,values=encoder --out " + ENCODERS)
          .after("calibrate --kv commvq:2,values=encoder --out " + ENCODERS);
  private static final String CONDITIONS = "value encoder, no beam, no sinks";

  private static final Experiment CODING_ERROR =
      Experiment.json("commvq-left", "codebooks --tables profile,stages,pairs,texts");
  private static final Experiment SPEED =
      Experiment.json(
          "commvq-speed",
          "bench attention --tokens 8192 --head-dim 64 --kv-heads 2 --query-heads 8 --threads 1"
              + " --kv commvq:1,scores=decoded;commvq:1;commvq:2,scores=decoded;commvq:2");

  private static final String VALUES = "values of layer 0, ";

  private CommvqClaims() {}

  static final List<Claim> ALL =
      List.of(
          COMMVQ
              .claim(
                  "Table 1",
                  "At 2 bits it beats KIVI at 2 bits, with fewer bytes.",
                  "InfiniteBench 42.75 at 2.00 bits against 42.68 at 3.00")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.all(
                      RowCheck.better(PUBLISHED_TWO, PUBLISHED_KIVI_TWO, Task.PROSE),
                      RowCheck.bytesAtMost(1, PUBLISHED_TWO, PUBLISHED_KIVI_TWO)))
              .equalTerms(
                  PARTS,
                  RowCheck.all(
                      RowCheck.better(TWO, KIVI_TWO, Task.PROSE),
                      RowCheck.bytesAtMost(1, TWO, KIVI_TWO))),
          COMMVQ
              .claim(
                  "Table 1",
                  "At 1 bit it is usable and KIVI is not (here: a tenth of the divergence).",
                  "InfiniteBench 36.76 against 15.04")
              .paperForm(
                  CONDITIONS,
                  PAPER,
                  RowCheck.atMost(0.1, PUBLISHED_ONE, PUBLISHED_KIVI_ONE, Task.PROSE))
              .equalTerms(PARTS, RowCheck.atMost(0.1, ONE, KIVI_ONE, Task.PROSE)),
          COMMVQ
              .claim(
                  "Table 2",
                  "At 2 bits it beats VQLLM and KVQuant.",
                  "InfiniteBench 42.75 against 36.66 and 33.34")
              .equalTerms(
                  BASELINES,
                  RowCheck.all(
                      RowCheck.worseThanIn(METHODS, "vqllm:2,sinks=16", TWO, Task.PROSE),
                      RowCheck.worseThanIn(METHODS, "kvquant:2,sinks=16", TWO, Task.PROSE))),
          COMMVQ
              .claim("Table 2", "At 1 bit it beats VQLLM.", "InfiniteBench 36.76 against 18.48")
              .equalTerms(
                  BASELINES, RowCheck.worseThanIn(METHODS, "vqllm:1,sinks=16", ONE, Task.PROSE)),
          COMMVQ
              .claim(
                  "Figure 2",
                  "At 2 bits it finds as many needles as fp16 (here: at most 5 points fewer).",
                  "all")
              .equalTerms(METHODS, RowCheck.answersWithin(0.05, TWO, "fp16", Task.NEEDLE))
              .remark("The codebooks were trained on the prose in which the needles are hidden."),
          COMMVQ
              .claim(
                  "Figure 2",
                  "At 1 bit it finds needles and KIVI does not (here: at least half of fp16's).",
                  "nearly all against none")
              .equalTerms(METHODS, RowCheck.atLeast(0.5, ONE, "fp16", Task.NEEDLE)),
          COMMVQ
              .claim(
                  "Table 3",
                  "At 2 bits solutions match fp16 (here: at most 5 points fewer programs).",
                  "GSM8K 76.04 against 76.27")
              .equalTerms(METHODS, RowCheck.answersWithin(0.05, TWO, "fp16", Task.CHAIN)),
          COMMVQ
              .claim(
                  "Table 3",
                  "At 1 bit it keeps most solutions (here: half of fp16's programs).",
                  "GSM8K 66.57 against 76.27")
              .equalTerms(METHODS, RowCheck.atLeast(0.5, ONE, "fp16", Task.CHAIN)),
          COMMVQ
              .claim(
                  "Table 5",
                  "Codebooks that commute with RoPE decode 6 to 9.6 times as fast as others.",
                  "6.0 to 9.6 times at 8K to 128K, H100")
              .equalTerms(SPEED, RowCheck.all(faster("commvq:1"), faster("commvq:2")))
              .remark(
                  "The paper's baseline multiplies the whole cache with a dense matrix; the one"
                      + " measured on the CPU gathers rows of one page at a time with the kernels of"
                      + " prompts, which is much faster."),
          COMMVQ
              .claim(
                  "Table 10",
                  "Codes for more channel pairs have less error at equal bits.",
                  ".0798, .0790, .0254, .0095 for 8 to 64 channels")
              .equalTerms(
                  CODING_ERROR,
                  NumberCheck.decreasing(
                      "%.3f",
                      "keys with codes of 8 pairs, 1.50 bits",
                      "keys with codes of 16 pairs, 1.50 bits",
                      "keys with codes of 32 pairs, 1.50 bits")),
          COMMVQ
              .claim("Figure 4", "Every further stage reduces the error.", "a falling curve")
              .equalTerms(
                  CODING_ERROR,
                  NumberCheck.decreasing(
                      "%.3f", after(1), after(2), after(3), after(5), after(8), after(11))),
          COMMVQ
              .claim(
                  "Table 11",
                  "At 1 bit, values of the first layer have 14 times less error than with uniform"
                      + " codes.",
                  "14 times")
              .equalTerms(
                  CODING_ERROR,
                  NumberCheck.timesAtLeast(
                      14, VALUES + "kivi:1", VALUES + "commvq:1", "%.1f times")),
          COMMVQ
              .claim("Table 11", "At 2 bits, 2.1 times less.", "2.1 times")
              .equalTerms(
                  CODING_ERROR,
                  NumberCheck.timesAtLeast(
                      2.1, VALUES + "kivi:2", VALUES + "commvq:2", "%.1f times")));

  private static String after(int stages) {
    return "keys after %d stages".formatted(stages);
  }

  private static Check faster(String spec) {
    String shape = ", 8192 tokens, 1 threads";
    return NumberCheck.timesAtLeast(
        6, spec + ",scores=decoded" + shape, spec + shape, "%.1f times");
  }
}
